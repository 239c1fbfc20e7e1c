// What kind of memory the sides of a copy are: as the call said, or, where it left that open, as
// the list of allocations says. Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// HOST, DEVICE or ARRAY.
CUmemorytype SourceTypeOf(const CopyOp& copy);
CUmemorytype TargetTypeOf(const CopyOp& copy);

}  // namespace cuheap::sim
