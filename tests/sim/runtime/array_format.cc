#include "tests/sim/runtime/array_format.h"

#include <initializer_list>

namespace cuheap::sim_runtime {
namespace {

// Kinds whose channels are counted, by the bits of one channel.
struct Plain {
  cudaChannelFormatKind kind;
  int bits;
  CUarray_format format;
};
constexpr Plain kPlain[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

// Kinds that say everything themselves.
struct Fixed {
  cudaChannelFormatKind kind;
  CUarray_format format;
  int bits;
  unsigned int channels;
  std::size_t bytes;
};
constexpr Fixed kFixed[] = {
    {cudaChannelFormatKindNV12, CU_AD_FORMAT_NV12, 8, 3, 1},
    {cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, 8, 1, 1},
    {cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, 8, 2, 2},
    {cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, 8, 4, 4},
    {cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, 16, 1, 2},
    {cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, 16, 2, 4},
    {cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4, 16, 4, 8},
    {cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, 8, 1, 1},
    {cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, 8, 2, 2},
    {cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, 8, 4, 4},
    {cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, 16, 1, 2},
    {cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, 16, 2, 4},
    {cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, 16, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed1, CU_AD_FORMAT_BC1_UNORM, 8, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed1SRGB, CU_AD_FORMAT_BC1_UNORM_SRGB, 8, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed2, CU_AD_FORMAT_BC2_UNORM, 8, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed2SRGB, CU_AD_FORMAT_BC2_UNORM_SRGB, 8, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed3, CU_AD_FORMAT_BC3_UNORM, 8, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed3SRGB, CU_AD_FORMAT_BC3_UNORM_SRGB, 8, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed4, CU_AD_FORMAT_BC4_UNORM, 8, 1, 8},
    {cudaChannelFormatKindSignedBlockCompressed4, CU_AD_FORMAT_BC4_SNORM, 8, 1, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed5, CU_AD_FORMAT_BC5_UNORM, 8, 2, 16},
    {cudaChannelFormatKindSignedBlockCompressed5, CU_AD_FORMAT_BC5_SNORM, 8, 2, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed6H, CU_AD_FORMAT_BC6H_UF16, 16, 3, 16},
    {cudaChannelFormatKindSignedBlockCompressed6H, CU_AD_FORMAT_BC6H_SF16, 16, 3, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed7, CU_AD_FORMAT_BC7_UNORM, 8, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed7SRGB, CU_AD_FORMAT_BC7_UNORM_SRGB, 8, 4, 16},
    {cudaChannelFormatKindUnsignedNormalized1010102, CU_AD_FORMAT_UNORM_INT_101010_2, 10, 4, 4},
};

cudaChannelFormatDesc Describe(cudaChannelFormatKind kind, int bits, unsigned int channels) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

bool IsSame(const cudaChannelFormatDesc& a, const cudaChannelFormatDesc& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

cudaChannelFormatDesc DescriptionOf(const Fixed& row) {
  cudaChannelFormatDesc channels = Describe(row.kind, row.bits, row.channels);
  if (row.kind == cudaChannelFormatKindUnsignedNormalized1010102) channels.w = 2;
  return channels;
}

}  // namespace

bool ReadChannels(const cudaChannelFormatDesc& channels, ArrayFormat* out) {
  for (const Fixed& row : kFixed) {
    if (!IsSame(channels, DescriptionOf(row))) continue;
    *out = {row.format, row.channels};
    return true;
  }
  for (const Plain& row : kPlain) {
    if (row.kind != channels.f || row.bits != channels.x) continue;
    for (const unsigned int count : {1U, 2U, 4U}) {
      if (!IsSame(channels, Describe(row.kind, row.bits, count))) continue;
      *out = {row.format, count};
      return true;
    }
  }
  return false;
}

cudaChannelFormatDesc DescribeFormat(const ArrayFormat& format) {
  for (const Fixed& row : kFixed) {
    if (row.format == format.format) return DescriptionOf(row);
  }
  for (const Plain& row : kPlain) {
    if (row.format == format.format) return Describe(row.kind, row.bits, format.channels);
  }
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

std::size_t ElementBytes(const ArrayFormat& format) {
  for (const Fixed& row : kFixed) {
    if (row.format == format.format) return row.bytes;
  }
  for (const Plain& row : kPlain) {
    if (row.format == format.format)
      return static_cast<std::size_t>(row.bits) / 8 * format.channels;
  }
  return 1;
}

}  // namespace cuheap::sim_runtime
