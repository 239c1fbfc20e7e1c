// Channel descriptions of the runtime, and the formats of the driver that they mean.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuheap::sim_runtime {

struct ArrayFormat {
  CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned int channels = 0;
};

// False: the description is not valid.
bool ReadChannels(const cudaChannelFormatDesc& channels, ArrayFormat* out);
// REQUIRES: a format of the driver.
cudaChannelFormatDesc DescribeFormat(const ArrayFormat& format);
// Of an element, or of a compressed block.
std::size_t ElementBytes(const ArrayFormat& format);

inline constexpr auto kInvalidChannels = static_cast<CUresult>(cudaErrorInvalidChannelDescriptor);

}  // namespace cuheap::sim_runtime
