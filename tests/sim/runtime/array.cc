// Arrays and mipmapped arrays.
#include "tests/sim/runtime/array.h"

#include "tests/sim/runtime/array_format.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace cuheap::sim_runtime {

CUresult DescribeArray(const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned int flags,
                       CUDA_ARRAY3D_DESCRIPTOR* out) {
  ArrayFormat format;
  if (!ReadChannels(channels, &format)) return kInvalidChannels;
  *out = {extent.width, extent.height, extent.depth, format.format, format.channels, flags};
  return CUDA_SUCCESS;
}

CUresult ElementOf(const Driver& driver, cudaArray_const_t array, std::size_t* out) {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  const CUresult result = Call(driver.cuArray3DGetDescriptor, &description, array);
  if (result != CUDA_SUCCESS) return result;
  *out = ElementBytes({description.Format, description.NumChannels});
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim_runtime

namespace {

// Calls the driver about an array. Where the runtime documents no bad handles, they are bad values.
template <typename Function>
cudaError_t OnArray(Function&& call) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    const CUresult result = call(driver);
    return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
  });
}

}  // namespace

extern "C" cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                         cudaExtent extent, unsigned int flags) {
  if (array == nullptr || channels == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    const CUresult known = DescribeArray(*channels, extent, flags, &description);
    return known == CUDA_SUCCESS ? Call(driver.cuArray3DCreate, array, &description) : known;
  });
}

extern "C" cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                       size_t width, size_t height, unsigned int flags) {
  return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}

extern "C" cudaError_t cudaFreeArray(cudaArray_t array) {
  return OnArray([&](const Driver& driver) {
    return array == nullptr ? CUDA_SUCCESS : Call(driver.cuArrayDestroy, array);
  });
}

extern "C" cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                const cudaChannelFormatDesc* channels,
                                                cudaExtent extent, unsigned int levels,
                                                unsigned int flags) {
  if (array == nullptr || channels == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    const CUresult known = DescribeArray(*channels, extent, flags, &description);
    return known == CUDA_SUCCESS ? Call(driver.cuMipmappedArrayCreate, array, &description, levels)
                                 : known;
  });
}

extern "C" cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return OnArray([&](const Driver& driver) {
    return array == nullptr ? CUDA_SUCCESS : Call(driver.cuMipmappedArrayDestroy, array);
  });
}

extern "C" cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent,
                                        unsigned int* flags, cudaArray_t array) {
  return OnArray([&](const Driver& driver) {
    CUDA_ARRAY3D_DESCRIPTOR found{};
    const CUresult result = Call(driver.cuArray3DGetDescriptor, &found, array);
    if (result != CUDA_SUCCESS) return result;
    if (channels != nullptr) *channels = DescribeFormat({found.Format, found.NumChannels});
    if (extent != nullptr) *extent = {found.Width, found.Height, found.Depth};
    if (flags != nullptr) *flags = found.Flags;
    return CUDA_SUCCESS;
  });
}

extern "C" cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels,
                                          cudaArray_const_t array) {
  if (channels == nullptr) return Record(cudaErrorInvalidValue);
  return cudaArrayGetInfo(channels, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

CUHEAP_FORWARD(cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel,
               (cudaArray_t * level_array, cudaMipmappedArray_const_t array, unsigned int level),
               level_array, array, level)
CUHEAP_FORWARD(cudaArrayGetPlane, cuArrayGetPlane,
               (cudaArray_t * plane_array, cudaArray_t array, unsigned int plane), plane_array,
               array, plane)
extern "C" cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements,
                                                      cudaArray_t array, int device) {
  return OnArray([&](const Driver& driver) {
    return Call(driver.cuArrayGetMemoryRequirements, requirements, array, device);
  });
}

extern "C" cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* requirements, cudaMipmappedArray_t array, int device) {
  return OnArray([&](const Driver& driver) {
    return Call(driver.cuMipmappedArrayGetMemoryRequirements, requirements, array, device);
  });
}

extern "C" cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* properties,
                                                    cudaArray_t array) {
  return OnArray([&](const Driver& driver) {
    return Call(driver.cuArrayGetSparseProperties, properties, array);
  });
}

extern "C" cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* properties,
                                                             cudaMipmappedArray_t array) {
  return OnArray([&](const Driver& driver) {
    return Call(driver.cuMipmappedArrayGetSparseProperties, properties, array);
  });
}
