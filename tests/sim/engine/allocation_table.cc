#include "tests/sim/engine/allocation_table.h"

#include "tests/sim/engine/context.h"

namespace cuheap::sim {

std::map<std::uintptr_t, Allocation>& AllAllocations() {
  static auto& table = *new std::map<std::uintptr_t, Allocation>;
  return table;
}

Allocation& AddAllocation(Allocation allocation) {
  static std::uint64_t next_buffer_id = 1;
  allocation.buffer_id = next_buffer_id++;
  if (allocation.context != nullptr) allocation.context = RootOf(allocation.context);
  return AllAllocations()[allocation.base] = std::move(allocation);
}

void RemoveAllocation(std::uintptr_t base) { AllAllocations().erase(base); }

Allocation* FindAllocation(std::uintptr_t address) {
  auto& table = AllAllocations();
  auto after = table.upper_bound(address);
  if (after == table.begin()) return nullptr;
  Allocation& before = std::prev(after)->second;
  return address - before.base < before.bytes ? &before : nullptr;
}

Allocation* AllocationAt(std::uintptr_t base) {
  Allocation* block = FindAllocation(base);
  return block != nullptr && block->base == base ? block : nullptr;
}

}  // namespace cuheap::sim
