#include "tests/sim/engine/memory_place.h"

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/copy_types.h"

namespace cuheap::sim {
namespace {

PlaceKind KindOf(const Allocation& block) {
  if (IsManaged(block)) return PlaceKind::kManaged;
  return IsHostMemory(block) ? PlaceKind::kPinned : PlaceKind::kDevice;
}

bool HasContext(const Allocation& block) {
  return block.type != AllocationType::kMapping && block.type != AllocationType::kMulticast &&
         block.type != AllocationType::kGraph && block.pool == nullptr;
}

MemoryPlace PlaceOf(std::uintptr_t address) {
  const Allocation* block = FindAllocation(address);
  if (block == nullptr) return {};
  return {KindOf(*block), block->device, HasContext(*block) ? block->context : nullptr};
}

}  // namespace

MemoryPlaces PlacesOf(const Operation& operation) {
  if (const auto* copy = std::get_if<CopyOp>(&operation))
    return {PlaceOf(copy->to), PlaceOf(copy->from), TargetTypeOf(*copy), SourceTypeOf(*copy)};
  const auto* fill = std::get_if<FillOp>(&operation);
  return fill == nullptr ? MemoryPlaces{} : MemoryPlaces{PlaceOf(fill->to), {}, {}, {}};
}

}  // namespace cuheap::sim
