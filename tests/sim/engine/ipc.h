// Sharing linear memory with another process of the same device by a 64-byte handle.
// The handle names an allocation; the pages behind it stay until the last process lets go.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/context.h"

namespace cuheap::sim {

CUresult MakeIpcHandle(std::uintptr_t address, CUipcMemHandle* out);
// INVALID_CONTEXT: the handle was made by this very process.
CUresult OpenIpcHandle(const CUipcMemHandle& handle, Context* context, std::uintptr_t* out);
CUresult CloseIpcHandle(std::uintptr_t address);

}  // namespace cuheap::sim
