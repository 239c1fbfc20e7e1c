#include "tests/sim/engine/staging.h"

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

bool IsPageable(std::uintptr_t address) {
  const EngineLock lock;
  return !IsDeviceAddress(address) && FindAllocation(address) == nullptr;
}

}  // namespace

Staging Stage(Operation* operation) {
  auto* copy = std::get_if<CopyOp>(operation);
  if (copy == nullptr || copy->width == 0) return Staging::kNone;
  if (IsPageable(copy->to)) return Staging::kWaits;
  if (!copy->source_now && !IsPageable(copy->from)) return Staging::kNone;
  if (copy->height > 1 || copy->depth > 1 || copy->from_array != nullptr) return Staging::kWaits;
  const auto* bytes = reinterpret_cast<const std::byte*>(copy->from);
  copy->staged = std::make_shared<std::vector<std::byte>>(bytes, bytes + copy->width);
  copy->from = reinterpret_cast<std::uintptr_t>(copy->staged->data());
  return Staging::kTaken;
}

}  // namespace cuheap::sim
