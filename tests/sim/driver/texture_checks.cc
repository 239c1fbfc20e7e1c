#include "tests/sim/driver/texture_checks.h"

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/array.h"
#include "tests/sim/engine/array_limits.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

std::uint64_t Most(int device, CUdevice_attribute attribute) {
  int value = 0;
  DeviceAttribute(device, attribute, &value);
  return static_cast<std::uint64_t>(value);
}

// Memory that a device knows, from an address that is aligned for textures on.
bool IsTexturable(int device, CUdeviceptr base, std::uint64_t bytes) {
  if (base % Most(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) != 0) return false;
  const EngineLock lock;
  return FindAllocation(base) != nullptr &&
         CheckRangesAtSubmission({{base, bytes, false}}) == CUDA_SUCCESS;
}

CUresult CheckLinear(int device, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  const auto format = FormatOf(linear.format, linear.numChannels);
  if (!format || format->block != 1 || format->planes != 1) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t elements = linear.sizeInBytes / format->bytes;
  if (elements == 0 ||
      elements > Most(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return IsTexturable(device, linear.devPtr, linear.sizeInBytes) ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult CheckPitched(int device, const CUDA_RESOURCE_DESC& resource) {
  const auto& plane = resource.res.pitch2D;
  const auto format = FormatOf(plane.format, plane.numChannels);
  if (!format || format->block != 1 || format->planes != 1) return CUDA_ERROR_INVALID_VALUE;
  const bool small =
      plane.width <= Most(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
      plane.height <= Most(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) &&
      plane.pitchInBytes <= Most(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  if (!small || plane.width == 0 || plane.height == 0 ||
      plane.pitchInBytes % Most(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) != 0 ||
      plane.pitchInBytes < plane.width * format->bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t bytes = (plane.height - 1) * plane.pitchInBytes + plane.width * format->bytes;
  return IsTexturable(device, plane.devPtr, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Of an array, or of the first level. REQUIRES: the resource is one of the two.
CUDA_ARRAY3D_DESCRIPTOR DescriptionOf(const CUDA_RESOURCE_DESC& resource) {
  return resource.resType == CU_RESOURCE_TYPE_ARRAY
             ? FindArray(resource.res.array.hArray)->descriptor
             : FindMipmap(resource.res.mipmap.hMipmappedArray)->descriptor;
}

bool IsOfArray(const CUDA_RESOURCE_DESC& resource) {
  return resource.resType == CU_RESOURCE_TYPE_ARRAY ||
         resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
}

// Channels of 32 bits that stand for one block. 0: the view is not compressed.
unsigned BlockChannels(CUresourceViewFormat format) {
  if (format < CU_RES_VIEW_FORMAT_UNSIGNED_BC1) return 0;
  const bool half = format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1 ||
                    format == CU_RES_VIEW_FORMAT_UNSIGNED_BC4 ||
                    format == CU_RES_VIEW_FORMAT_SIGNED_BC4;
  return half ? 2 : 4;
}

bool InRange(unsigned first, unsigned last, std::uint64_t count) {
  return count == 0 ? first == 0 && last == 0 : first <= last && last < count;
}

}  // namespace

CUresult CheckResource(int device, const CUDA_RESOURCE_DESC& resource) {
  if (resource.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return FindArray(resource.res.array.hArray) != nullptr ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return FindMipmap(resource.res.mipmap.hMipmappedArray) != nullptr ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_LINEAR:
      return CheckLinear(device, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
      return CheckPitched(device, resource);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult CheckTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture) {
  constexpr unsigned kFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                              CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                              CU_TRSF_SEAMLESS_CUBEMAP;
  if ((texture.flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
      (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  const bool cubemap =
      IsOfArray(resource) && (DescriptionOf(resource).Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if ((texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 && !cubemap) return CUDA_ERROR_INVALID_VALUE;
  if (texture.mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) return CUDA_SUCCESS;  // the rest is ignored
  for (const CUaddress_mode mode : texture.addressMode) {
    if (mode > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
  }
  return texture.filterMode <= CU_TR_FILTER_MODE_LINEAR ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CheckView(const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view) {
  if (!IsOfArray(resource) || view.format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  const CUDA_ARRAY3D_DESCRIPTOR array = DescriptionOf(resource);
  const auto format = FormatOf(array.Format, array.NumChannels);
  if (format->block != 1) return CUDA_ERROR_INVALID_VALUE;
  const unsigned channels = BlockChannels(view.format);
  if (channels != 0 &&
      (array.Format != CU_AD_FORMAT_UNSIGNED_INT32 || array.NumChannels != channels)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::size_t scale = channels != 0 ? 4 : 1;
  if (view.width != array.Width * scale || view.height != array.Height * scale ||
      view.depth != array.Depth) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t levels = resource.resType == CU_RESOURCE_TYPE_ARRAY
                                   ? 0
                                   : FindMipmap(resource.res.mipmap.hMipmappedArray)->levels.size();
  const std::uint64_t layers = IsLayered(*ShapeOf(array)) ? array.Depth : 0;
  return InRange(view.firstMipmapLevel, view.lastMipmapLevel, levels) &&
                 InRange(view.firstLayer, view.lastLayer, layers)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuheap::sim
