#include "tests/sim/engine/generations.h"

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {

Generations GenerationsOf(const std::vector<TouchedRange>& ranges) {
  const EngineLock lock;
  Generations generations;
  for (const TouchedRange& range : ranges) {
    const Allocation* block = FindAllocation(range.base);
    const bool counts = block != nullptr && (block->type == AllocationType::kLinear ||
                                             block->type == AllocationType::kPooled);
    generations.push_back(counts ? block->buffer_id : 0);
  }
  return generations;
}

bool WasReplaced(const std::vector<TouchedRange>& ranges, const Generations& then) {
  const Generations now = GenerationsOf(ranges);
  for (std::size_t i = 0; i < now.size() && i < then.size(); ++i)
    if (then[i] != 0 && now[i] != 0 && then[i] != now[i]) return true;
  return false;
}

}  // namespace cuheap::sim
