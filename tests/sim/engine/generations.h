// Which allocations an operation means by the ranges that it touches: an address alone does not
// tell, since it is given out again. Memory that is mapped anew under the same address (cuMemMap)
// is meant to serve: it has no generation here.
//
// Threads: functions take the engine's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// The number of the allocation behind each range; 0: of no interest.
using Generations = std::vector<std::uint64_t>;

Generations GenerationsOf(const std::vector<TouchedRange>& ranges);
// Whether other memory lies where `then` was. What is gone without a successor is no business of
// this.
bool WasReplaced(const std::vector<TouchedRange>& ranges, const Generations& then);

}  // namespace cuheap::sim
