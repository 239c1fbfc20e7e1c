// Arrays of the runtime, which are the driver's, as other files of the runtime need them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "tests/sim/runtime/driver.h"

namespace cuheap::sim_runtime {

// kInvalidChannels: the channels are not valid.
CUresult DescribeArray(const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned int flags,
                       CUDA_ARRAY3D_DESCRIPTOR* out);
// The bytes of an element of a living array.
CUresult ElementOf(const Driver& driver, cudaArray_const_t array, std::size_t* out);

}  // namespace cuheap::sim_runtime
