// What a pool says of itself. Threads: both functions take the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {

// INVALID_VALUE: no such attribute, or none that can be set so.
CUresult SetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, const void* value);
CUresult GetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, void* value);

}  // namespace cuheap::sim
