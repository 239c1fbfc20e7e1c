// The translation of copy descriptions, shared by copies and by graph nodes.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuheap::sim_runtime {

// False, having said so, for copies from or to arrays.
bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to);

}  // namespace cuheap::sim_runtime
