// Arrays as objects: what may be made, what it costs, what it says of itself.
#include <cstdint>
#include <vector>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

using ArrayTest = WithArrays;

TEST_F(ArrayTest, AnArrayTakesDeviceMemoryUntilItIsDestroyed) {
  const std::size_t before = UsedByDriver();
  const CUarray array = NewArray(Floats(1024, 1024));
  EXPECT_EQ(4 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_ARRAY));
  EXPECT_EQ(before + 4 * kMiB, UsedByDriver());
  EXPECT_EQ(UsedByDriver(), UsedByList());
  EXPECT_EQ(1U, cuheap_sim_live_blocks(0, CUHEAP_SIM_ARRAY));
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_EQ(before, UsedByDriver());
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(nullptr));
}

TEST_F(ArrayTest, DescriptionsComeBackAsGiven) {
  const CUarray array = NewArray(Floats(64, 32, 6, CUDA_ARRAY3D_LAYERED));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  ASSERT_CUDA(cuArray3DGetDescriptor(&found, array));
  EXPECT_EQ(64U, found.Width);
  EXPECT_EQ(32U, found.Height);
  EXPECT_EQ(6U, found.Depth);
  EXPECT_EQ(CU_AD_FORMAT_FLOAT, found.Format);
  EXPECT_EQ(1U, found.NumChannels);
  EXPECT_EQ(unsigned{CUDA_ARRAY3D_LAYERED}, found.Flags);
  CUDA_ARRAY_DESCRIPTOR flat{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetDescriptor(&flat, array));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArray3DGetDescriptor(nullptr, array));
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&found, array));

  const CUDA_ARRAY_DESCRIPTOR two{100, 0, CU_AD_FORMAT_HALF, 4};
  CUarray row = nullptr;
  ASSERT_CUDA(cuArrayCreate(&row, &two));
  ASSERT_CUDA(cuArrayGetDescriptor(&flat, row));
  EXPECT_EQ(100U, flat.Width);
  EXPECT_EQ(0U, flat.Height);
  EXPECT_EQ(4U, flat.NumChannels);
  EXPECT_CUDA(cuArrayDestroy(row));
}

TEST_F(ArrayTest, WhatNoDeviceHasIsRefusedAndTheOutputLeftAlone) {
  int widest = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&widest, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0));
  const auto with = [](CUarray_format format, unsigned channels) {
    return CUDA_ARRAY3D_DESCRIPTOR{16, 16, 0, format, channels, 0};
  };
  const CUDA_ARRAY3D_DESCRIPTOR wrong[] = {
      Floats(0),
      Floats(static_cast<std::size_t>(widest) + 1),
      Floats(SIZE_MAX, SIZE_MAX, SIZE_MAX),
      Floats(16, 0, 4),                         // a depth without a height or layers
      Floats(16, 16, 0, CUDA_ARRAY3D_LAYERED),  // no layers
      Floats(16, 8, 6, CUDA_ARRAY3D_CUBEMAP),   // not square
      Floats(16, 16, 5, CUDA_ARRAY3D_CUBEMAP),  // not six faces
      Floats(16, 16, 4, CUDA_ARRAY3D_TEXTURE_GATHER),
      Floats(16, 0, 0, CUDA_ARRAY3D_SPARSE),  // one dimension
      Floats(64, 64, 0, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING),
      Floats(16, 16, 0, 1U << 30),
      with(CU_AD_FORMAT_FLOAT, 3),
      with(CU_AD_FORMAT_FLOAT, 0),
      with(static_cast<CUarray_format>(0x77), 1),
      with(CU_AD_FORMAT_UNORM_INT8X2, 4),
  };
  CUarray array = reinterpret_cast<CUarray>(7);
  for (const CUDA_ARRAY3D_DESCRIPTOR& description : wrong) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &description))
        << &description - wrong;
  }
  const CUDA_ARRAY3D_DESCRIPTOR fine = Floats(16);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(nullptr, &fine));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, nullptr));
  EXPECT_EQ(reinterpret_cast<CUarray>(7), array);
}

TEST_F(ArrayTest, TheCapacityHoldsForArraysToo) {
  const CUDA_ARRAY3D_DESCRIPTOR large = Floats(16384, 16384, 16);  // 16 GiB
  CUarray array = nullptr;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuArray3DCreate(&array, &large));
  EXPECT_EQ(nullptr, array);
}

TEST_F(ArrayTest, LevelsHalveAndBelongToTheirMipmap) {
  const CUDA_ARRAY3D_DESCRIPTOR description = Floats(20, 6);
  CUmipmappedArray mipmap = nullptr;
  ASSERT_CUDA(cuMipmappedArrayCreate(&mipmap, &description, 99));  // clamped to 5
  const std::size_t widths[] = {20, 10, 5, 2, 1};
  const std::size_t heights[] = {6, 3, 1, 1, 1};
  CUarray level = nullptr;
  for (unsigned i = 0; i < 5; ++i) {
    ASSERT_CUDA(cuMipmappedArrayGetLevel(&level, mipmap, i));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    ASSERT_CUDA(cuArray3DGetDescriptor(&found, level));
    EXPECT_EQ(widths[i], found.Width);
    EXPECT_EQ(heights[i], found.Height);
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, 5));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
  EXPECT_CUDA(cuMipmappedArrayDestroy(mipmap));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&found, level));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(mipmap));
}

TEST_F(ArrayTest, PlanesAreArraysOfOneFormat) {
  const CUarray whole = NewArray({64, 32, 0, CU_AD_FORMAT_NV12, 3, 0});
  CUarray plane = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR found{};
  ASSERT_CUDA(cuArrayGetPlane(&plane, whole, 0));
  ASSERT_CUDA(cuArray3DGetDescriptor(&found, plane));
  EXPECT_EQ(CU_AD_FORMAT_UNSIGNED_INT8, found.Format);
  EXPECT_EQ(64U, found.Width);
  EXPECT_EQ(1U, found.NumChannels);
  ASSERT_CUDA(cuArrayGetPlane(&plane, whole, 1));
  ASSERT_CUDA(cuArray3DGetDescriptor(&found, plane));
  EXPECT_EQ(32U, found.Width);
  EXPECT_EQ(16U, found.Height);
  EXPECT_EQ(2U, found.NumChannels);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetPlane(&plane, whole, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetPlane(&plane, plane, 0));
  EXPECT_CUDA(cuArrayDestroy(whole));
}

TEST_F(ArrayTest, ArraysEndWithTheirContext) {
  CUcontext own = nullptr;
  ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  const CUarray array = NewArray(Floats(512, 512));
  const CUDA_ARRAY3D_DESCRIPTOR description = Floats(64, 64);
  CUmipmappedArray mipmap = nullptr;
  ASSERT_CUDA(cuMipmappedArrayCreate(&mipmap, &description, 3));
  ASSERT_CUDA(cuCtxDestroy(own));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_ARRAY));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&found, array));
}

TEST_F(ArrayTest, CallsNeedAContextAndMeetCaptures) {
  const CUDA_ARRAY3D_DESCRIPTOR description = Floats(16);
  CUarray array = nullptr;
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuArray3DCreate(&array, &description));
  CUgraph graph = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuArray3DCreate(&array, &description));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_CUDA(cuStreamDestroy(stream));
}

}  // namespace
}  // namespace cuheap::sim
