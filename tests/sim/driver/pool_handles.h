// Pools by their handles.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {

// INVALID_VALUE: no such pool, or a destroyed one that lives on for its last blocks.
inline CUresult PoolOf(CUmemoryPool handle, MemoryPool** out) {
  *out = MemoryPools().Find(handle);
  return *out == nullptr || (*out)->destroyed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace cuheap::sim
