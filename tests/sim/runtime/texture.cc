// Texture and surface objects.
#include <algorithm>
#include <iterator>

#include "tests/sim/runtime/array_format.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

CUresult ReadResource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  to->resType = static_cast<CUresourcetype>(from.resType);
  to->flags = from.flags;
  ArrayFormat format;
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->res.array.hArray = (CUarray)from.res.array.array;
      return CUDA_SUCCESS;
    case cudaResourceTypeMipmappedArray:
      to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from.res.mipmap.mipmap;
      return CUDA_SUCCESS;
    case cudaResourceTypeLinear:
      if (!ReadChannels(from.res.linear.desc, &format)) return kInvalidChannels;
      to->res.linear = {(CUdeviceptr)from.res.linear.devPtr, format.format, format.channels,
                        from.res.linear.sizeInBytes};
      return CUDA_SUCCESS;
    case cudaResourceTypePitch2D:
      if (!ReadChannels(from.res.pitch2D.desc, &format)) return kInvalidChannels;
      to->res.pitch2D = {(CUdeviceptr)from.res.pitch2D.devPtr,
                         format.format,
                         format.channels,
                         from.res.pitch2D.width,
                         from.res.pitch2D.height,
                         from.res.pitch2D.pitchInBytes};
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void GiveResource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  to->resType = static_cast<cudaResourceType>(from.resType);
  to->flags = from.flags;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to->res.array.array = (cudaArray_t)from.res.array.hArray;
      return;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to->res.mipmap.mipmap = (cudaMipmappedArray_t)from.res.mipmap.hMipmappedArray;
      return;
    case CU_RESOURCE_TYPE_LINEAR:
      to->res.linear = {(void*)from.res.linear.devPtr,
                        DescribeFormat({from.res.linear.format, from.res.linear.numChannels}),
                        from.res.linear.sizeInBytes};
      return;
    case CU_RESOURCE_TYPE_PITCH2D:
      to->res.pitch2D = {(void*)from.res.pitch2D.devPtr,
                         DescribeFormat({from.res.pitch2D.format, from.res.pitch2D.numChannels}),
                         from.res.pitch2D.width, from.res.pitch2D.height,
                         from.res.pitch2D.pitchInBytes};
      return;
  }
}

struct Flag {
  unsigned int bit;
  int cudaTextureDesc::*member;
};
constexpr Flag kFlags[] = {
    {CU_TRSF_NORMALIZED_COORDINATES, &cudaTextureDesc::normalizedCoords},
    {CU_TRSF_SRGB, &cudaTextureDesc::sRGB},
    {CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, &cudaTextureDesc::disableTrilinearOptimization},
    {CU_TRSF_SEAMLESS_CUBEMAP, &cudaTextureDesc::seamlessCubemap},
};

CUDA_TEXTURE_DESC ReadTexture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  if (from.readMode == cudaReadModeElementType) to.flags |= CU_TRSF_READ_AS_INTEGER;
  for (const Flag& flag : kFlags) {
    if (from.*flag.member != 0) to.flags |= flag.bit;
  }
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::copy(std::begin(from.borderColor), std::end(from.borderColor), to.borderColor);
  return to;
}

cudaTextureDesc GiveTexture(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc to{};
  for (int i = 0; i < 3; ++i) {
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  }
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                            : cudaReadModeNormalizedFloat;
  for (const Flag& flag : kFlags) to.*flag.member = (from.flags & flag.bit) != 0 ? 1 : 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::copy(std::begin(from.borderColor), std::end(from.borderColor), to.borderColor);
  return to;
}

// Both records have the same members, of the same types but for the format's.
template <typename To, typename From>
To Convert(const From& from) {
  To to{};
  to.format = static_cast<decltype(to.format)>(from.format);
  to.width = from.width;
  to.height = from.height;
  to.depth = from.depth;
  to.firstMipmapLevel = from.firstMipmapLevel;
  to.lastMipmapLevel = from.lastMipmapLevel;
  to.firstLayer = from.firstLayer;
  to.lastLayer = from.lastLayer;
  return to;
}

}  // namespace

// PARTIAL: nothing is ever sampled.
extern "C" cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                               const cudaResourceDesc* resource,
                                               const cudaTextureDesc* texture,
                                               const cudaResourceViewDesc* view) {
  if (object == nullptr || resource == nullptr || texture == nullptr) {
    return Record(cudaErrorInvalidValue);
  }
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_RESOURCE_DESC read{};
    const CUresult known = ReadResource(*resource, &read);
    if (known != CUDA_SUCCESS) return known;
    const CUDA_TEXTURE_DESC sampled = ReadTexture(*texture);
    CUDA_RESOURCE_VIEW_DESC viewed{};
    if (view != nullptr) viewed = Convert<CUDA_RESOURCE_VIEW_DESC>(*view);
    return driver.cuTexObjectCreate(object, &read, &sampled, view == nullptr ? nullptr : &viewed);
  });
}
CUHEAP_FORWARD(cudaDestroyTextureObject, cuTexObjectDestroy, (cudaTextureObject_t object), object)
extern "C" cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                        cudaTextureObject_t object) {
  if (resource == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_RESOURCE_DESC found{};
    const CUresult result = driver.cuTexObjectGetResourceDesc(&found, object);
    if (result == CUDA_SUCCESS) GiveResource(found, resource);
    return result;
  });
}
extern "C" cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                                       cudaTextureObject_t object) {
  if (texture == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_TEXTURE_DESC found{};
    const CUresult result = driver.cuTexObjectGetTextureDesc(&found, object);
    if (result == CUDA_SUCCESS) *texture = GiveTexture(found);
    return result;
  });
}
extern "C" cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                            cudaTextureObject_t object) {
  if (view == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_RESOURCE_VIEW_DESC found{};
    const CUresult result = driver.cuTexObjectGetResourceViewDesc(&found, object);
    if (result == CUDA_SUCCESS) *view = Convert<cudaResourceViewDesc>(found);
    return result;
  });
}

// PARTIAL: nothing is ever loaded or stored.
extern "C" cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                               const cudaResourceDesc* resource) {
  if (object == nullptr || resource == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_RESOURCE_DESC read{};
    const CUresult known = ReadResource(*resource, &read);
    return known == CUDA_SUCCESS ? driver.cuSurfObjectCreate(object, &read) : known;
  });
}
CUHEAP_FORWARD(cudaDestroySurfaceObject, cuSurfObjectDestroy, (cudaSurfaceObject_t object), object)
extern "C" cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                        cudaSurfaceObject_t object) {
  if (resource == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_RESOURCE_DESC found{};
    const CUresult result = driver.cuSurfObjectGetResourceDesc(&found, object);
    if (result == CUDA_SUCCESS) GiveResource(found, resource);
    return result;
  });
}

extern "C" cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width,
                                                            const cudaChannelFormatDesc* channels,
                                                            int device) {
  if (width == nullptr || channels == nullptr) return Record(cudaErrorInvalidValue);
  return InDriver([&](const Driver& driver) {
    ArrayFormat format;
    if (!ReadChannels(*channels, &format)) return kInvalidChannels;
    return driver.cuDeviceGetTexture1DLinearMaxWidth(width, format.format, format.channels, device);
  });
}
