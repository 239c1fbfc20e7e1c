// The last error of each thread, and the names of errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuheap::sim_runtime {

// Keeps a failure as this thread's last error and passes it on; success leaves the last error
// alone.
cudaError_t Record(cudaError_t error);

// Runtime and driver share their error numbers since CUDA 10.1.
inline cudaError_t Record(CUresult result) { return Record(static_cast<cudaError_t>(result)); }

}  // namespace cuheap::sim_runtime
