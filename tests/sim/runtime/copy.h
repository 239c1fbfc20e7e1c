// The translation of copy descriptions, shared by copies and by graph nodes.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuheap::sim_runtime {

// False: an array that does not live, or both an array and a pointer on one side.
bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to);

}  // namespace cuheap::sim_runtime
