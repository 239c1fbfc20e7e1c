#include "tests/sim/engine/staging.h"

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

bool IsPageable(std::uintptr_t address) {
  const EngineLock lock;
  return !IsDeviceAddress(address) && FindAllocation(address) == nullptr;
}

bool IsHost(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  if (block == nullptr) return !IsDeviceAddress(address);
  return block->type == AllocationType::kHost || block->type == AllocationType::kRegistered ||
         block->type == AllocationType::kDeviceView;
}

}  // namespace

Staging Stage(Operation* operation) {
  auto* copy = std::get_if<CopyOp>(operation);
  if (copy == nullptr || copy->width == 0) return Staging::kNone;
  if (IsPageable(copy->to) || IsBetweenHosts(*operation)) return Staging::kWaits;
  if (!copy->source_now && !IsPageable(copy->from)) return Staging::kNone;
  if (copy->height > 1 || copy->depth > 1 || copy->from_array != nullptr) return Staging::kWaits;
  const auto* bytes = reinterpret_cast<const std::byte*>(copy->from);
  copy->staged = std::make_shared<std::vector<std::byte>>(bytes, bytes + copy->width);
  copy->from = reinterpret_cast<std::uintptr_t>(copy->staged->data());
  return Staging::kTaken;
}

bool IsBetweenHosts(const Operation& operation) {
  const auto* copy = std::get_if<CopyOp>(&operation);
  if (copy == nullptr || copy->from_array != nullptr || copy->to_array != nullptr) return false;
  return IsHost(copy->to) && IsHost(copy->from);
}

bool IsLeftInItsStream(const CopyOp& copy) {
  return !copy.between_contexts && (copy.from_array != nullptr || IsDeviceAddress(copy.from)) &&
         (copy.to_array != nullptr || IsDeviceAddress(copy.to));
}

}  // namespace cuheap::sim
