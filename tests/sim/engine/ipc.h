// Sharing linear memory with another process of the same device by a 64-byte handle.
// The handle names an allocation; the pages behind it stay until the last process lets go.
//
// Laws: 1. A context that opens a handle again gets the same address, which is closed as often.
//       2. Of the contexts of one device, one at a time may have memory open that a certain process
//          made on a certain device.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/context.h"

namespace cuheap::sim {

// INVALID_VALUE: `address` is not the base of an allocation by cuMemAlloc.
CUresult MakeIpcHandle(std::uintptr_t address, CUipcMemHandle* out);
// INVALID_CONTEXT: the handle was made by this very process, or law 2. INVALID_HANDLE: there is no
// such memory. MAP_FAILED: the device of the context does not reach it.
CUresult OpenIpcHandle(const CUipcMemHandle& handle, Context* context, std::uintptr_t* out);
CUresult CloseIpcHandle(std::uintptr_t address);

}  // namespace cuheap::sim
