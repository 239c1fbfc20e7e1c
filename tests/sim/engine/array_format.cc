#include "tests/sim/engine/array_format.h"

namespace cuheap::sim {
namespace {

// Formats whose channels the application chooses: 1, 2 or 4.
struct Plain {
  CUarray_format format;
  std::uint32_t channel_bytes;
};
constexpr Plain kPlain[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1},  {CU_AD_FORMAT_SIGNED_INT8, 1},
    {CU_AD_FORMAT_UNSIGNED_INT16, 2}, {CU_AD_FORMAT_SIGNED_INT16, 2},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4}, {CU_AD_FORMAT_SIGNED_INT32, 4},
    {CU_AD_FORMAT_HALF, 2},           {CU_AD_FORMAT_FLOAT, 4},
};

// Formats that say themselves how many channels they have.
struct Fixed {
  CUarray_format format;
  unsigned channels;
  std::uint32_t bytes;
  std::uint32_t block = 1;
};
constexpr Fixed kFixed[] = {
    {CU_AD_FORMAT_UNORM_INT8X1, 1, 1},
    {CU_AD_FORMAT_UNORM_INT8X2, 2, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, 4, 4},
    {CU_AD_FORMAT_UNORM_INT16X1, 1, 2},
    {CU_AD_FORMAT_UNORM_INT16X2, 2, 4},
    {CU_AD_FORMAT_UNORM_INT16X4, 4, 8},
    {CU_AD_FORMAT_SNORM_INT8X1, 1, 1},
    {CU_AD_FORMAT_SNORM_INT8X2, 2, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, 4, 4},
    {CU_AD_FORMAT_SNORM_INT16X1, 1, 2},
    {CU_AD_FORMAT_SNORM_INT16X2, 2, 4},
    {CU_AD_FORMAT_SNORM_INT16X4, 4, 8},
    {CU_AD_FORMAT_UNORM_INT_101010_2, 4, 4},
    {CU_AD_FORMAT_YUY2, 2, 2},
    {CU_AD_FORMAT_Y210, 2, 4},
    {CU_AD_FORMAT_Y216, 2, 4},
    {CU_AD_FORMAT_AYUV, 4, 4},
    {CU_AD_FORMAT_Y410, 4, 4},
    {CU_AD_FORMAT_Y416, 4, 8},
    {CU_AD_FORMAT_BC1_UNORM, 4, 8, 4},
    {CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 8, 4},
    {CU_AD_FORMAT_BC2_UNORM, 4, 16, 4},
    {CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 16, 4},
    {CU_AD_FORMAT_BC3_UNORM, 4, 16, 4},
    {CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 16, 4},
    {CU_AD_FORMAT_BC4_UNORM, 1, 8, 4},
    {CU_AD_FORMAT_BC4_SNORM, 1, 8, 4},
    {CU_AD_FORMAT_BC5_UNORM, 2, 16, 4},
    {CU_AD_FORMAT_BC5_SNORM, 2, 16, 4},
    {CU_AD_FORMAT_BC6H_UF16, 3, 16, 4},
    {CU_AD_FORMAT_BC6H_SF16, 3, 16, 4},
    {CU_AD_FORMAT_BC7_UNORM, 4, 16, 4},
    {CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 16, 4},
};

// Formats in planes: brightness first, then colour, which may be coarser.
struct Planar {
  CUarray_format format;
  CUarray_format component;
  std::uint32_t component_bytes;
  unsigned planes;
  bool half_width;
  bool half_height;
};
constexpr Planar kPlanar[] = {
    {CU_AD_FORMAT_NV12, CU_AD_FORMAT_UNSIGNED_INT8, 1, 2, true, true},
    {CU_AD_FORMAT_P010, CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, true, true},
    {CU_AD_FORMAT_P016, CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, true, true},
    {CU_AD_FORMAT_NV16, CU_AD_FORMAT_UNSIGNED_INT8, 1, 2, true, false},
    {CU_AD_FORMAT_P210, CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, true, false},
    {CU_AD_FORMAT_P216, CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, true, false},
    {CU_AD_FORMAT_YUV444_8bit_SemiPlanar, CU_AD_FORMAT_UNSIGNED_INT8, 1, 2, false, false},
    {CU_AD_FORMAT_YUV444_16bit_SemiPlanar, CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, false, false},
    {CU_AD_FORMAT_Y444_PLANAR8, CU_AD_FORMAT_UNSIGNED_INT8, 1, 3, false, false},
    {CU_AD_FORMAT_Y444_PLANAR10, CU_AD_FORMAT_UNSIGNED_INT16, 2, 3, false, false},
};
constexpr unsigned kPlanarChannels = 3;

}  // namespace

std::optional<ElementFormat> FormatOf(CUarray_format format, unsigned channels) {
  for (const Plain& row : kPlain) {
    if (row.format != format) continue;
    if (channels != 1 && channels != 2 && channels != 4) return std::nullopt;
    return ElementFormat{row.channel_bytes * channels};
  }
  for (const Fixed& row : kFixed) {
    if (row.format != format) continue;
    if (channels != row.channels) return std::nullopt;
    return ElementFormat{row.bytes, row.block};
  }
  for (const Planar& row : kPlanar) {
    if (row.format != format) continue;
    if (channels != kPlanarChannels) return std::nullopt;
    return ElementFormat{row.component_bytes, 1, row.planes};
  }
  return std::nullopt;
}

std::optional<CUDA_ARRAY3D_DESCRIPTOR> PlaneOf(const CUDA_ARRAY3D_DESCRIPTOR& whole,
                                               unsigned plane) {
  for (const Planar& row : kPlanar) {
    if (row.format != whole.Format || plane >= row.planes) continue;
    CUDA_ARRAY3D_DESCRIPTOR description = whole;
    description.Format = row.component;
    description.NumChannels = plane == 1 && row.planes == 2 ? 2 : 1;
    if (plane != 0 && row.half_width) description.Width = (whole.Width + 1) / 2;
    if (plane != 0 && row.half_height) description.Height = (whole.Height + 1) / 2;
    return description;
  }
  return std::nullopt;
}

}  // namespace cuheap::sim
