// Which allocations an operation means: an address alone does not tell, since it is given out
// again. Memory that is mapped anew under the same address (cuMemMap) is meant to serve: it has no
// generation here.
//
// Threads: functions take the engine's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// The number of the allocation behind each range that the operation touches; 0: of no interest.
using Generations = std::vector<std::uint64_t>;

Generations GenerationsIn(const Operation& operation);
// Whether other memory lies where `then` was. What is gone without a successor is no business of
// this.
bool WasReplaced(const Operation& operation, const Generations& then);

}  // namespace cuheap::sim
