// Memory behind sparse arrays and arrays with deferred mapping: which pieces of their addresses
// have some, and the operation that gives and takes it in a stream.
//
// Laws: 1. Memory that is mapped stays alive, also when its handle is released.
//       2. Work on a piece that has no memory fails as ILLEGAL_ADDRESS when it is done.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "tests/sim/engine/operation.h"
#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

// What one entry of cuMemMapArrayAsync asks for. INVALID_VALUE, INVALID_HANDLE. `device` is that
// of the stream.
CUresult ReadMapInfo(const CUarrayMapInfo& info, int device, MapArrayOp* out);

CUresult MapArrayPieces(const MapArrayOp& operation);
// Whether there is memory behind every byte, of ranges that arrays have reserved.
bool IsResident(const std::vector<TouchedRange>& ranges);
// The array is gone.
void ForgetPieces(std::uintptr_t base, std::uint64_t bytes);

}  // namespace cuheap::sim
