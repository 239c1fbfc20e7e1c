#include <cstdint>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

class TextureTest : public WithArrays {
 protected:
  static CUDA_RESOURCE_DESC OfArray(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
  }
  static CUDA_RESOURCE_DESC OfRow(CUdeviceptr base, std::size_t bytes) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = base;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
  }
  static CUresult Create(const CUDA_RESOURCE_DESC& resource,
                         const CUDA_RESOURCE_VIEW_DESC* view = nullptr, unsigned flags = 0) {
    CUDA_TEXTURE_DESC texture{};
    texture.flags = flags;
    CUtexObject object = 0;
    const CUresult result = cuTexObjectCreate(&object, &resource, &texture, view);
    if (result == CUDA_SUCCESS) {
      EXPECT_CUDA(cuTexObjectDestroy(object));
    }
    return result;
  }
};

TEST_F(TextureTest, AnObjectSaysWhatItWasMadeOf) {
  const CUarray array = NewArray(Floats(32, 16));
  const CUDA_RESOURCE_DESC resource = OfArray(array);
  CUDA_TEXTURE_DESC texture{};
  texture.maxAnisotropy = 4;
  CUtexObject object = 0;
  ASSERT_CUDA(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  CUDA_RESOURCE_DESC found{};
  ASSERT_CUDA(cuTexObjectGetResourceDesc(&found, object));
  EXPECT_EQ(array, found.res.array.hArray);
  CUDA_TEXTURE_DESC sampled{};
  ASSERT_CUDA(cuTexObjectGetTextureDesc(&sampled, object));
  EXPECT_EQ(4U, sampled.maxAnisotropy);
  CUDA_RESOURCE_VIEW_DESC view{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&view, object));
  EXPECT_CUDA(cuTexObjectDestroy(object));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(object));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(&found, object));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(TextureTest, LinearMemoryMustBeAlignedAndThere) {
  const CUdeviceptr block = Alloc(4096);
  EXPECT_CUDA(Create(OfRow(block, 4096)));
  EXPECT_CUDA(Create(OfRow(block + 512, 512)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block + 256, 256)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block, 4100)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block, 0)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block, SIZE_MAX)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(512, 512)));
  CUDA_RESOURCE_DESC plane{};
  plane.resType = CU_RESOURCE_TYPE_PITCH2D;
  plane.res.pitch2D = {block, CU_AD_FORMAT_FLOAT, 1, 8, 16, 64};
  EXPECT_CUDA(Create(plane));
  plane.res.pitch2D.pitchInBytes = 48;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(plane));
  plane.res.pitch2D.pitchInBytes = 32;
  plane.res.pitch2D.width = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(plane));
  plane.res.pitch2D.width = 8;
  plane.res.pitch2D.height = 4096;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(plane));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block, 4096)));
}

TEST_F(TextureTest, ViewsFitTheirArray) {
  const CUarray array = NewArray({16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0});
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_2X32;
  view.width = 16;
  view.height = 8;
  EXPECT_CUDA(Create(OfArray(array), &view));
  view.lastMipmapLevel = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfArray(array), &view));
  view.lastMipmapLevel = 0;
  view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfArray(array), &view));
  view.width = 64;
  view.height = 32;
  EXPECT_CUDA(Create(OfArray(array), &view));
  view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC2;  // wants four channels
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfArray(array), &view));
  const CUdeviceptr block = Alloc(512);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfRow(block, 512), &view));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfArray(array), nullptr, CU_TRSF_SEAMLESS_CUBEMAP));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Create(OfArray(nullptr)));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(TextureTest, SurfacesNeedAnArrayForThem) {
  const CUarray plain = NewArray(Floats(16, 8));
  const CUarray stored = NewArray(Floats(16, 8, 0, CUDA_ARRAY3D_SURFACE_LDST));
  CUsurfObject surface = 0;
  CUDA_RESOURCE_DESC resource = OfArray(plain);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
  resource = OfArray(stored);
  ASSERT_CUDA(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC found{};
  ASSERT_CUDA(cuSurfObjectGetResourceDesc(&found, surface));
  EXPECT_EQ(stored, found.res.array.hArray);
  EXPECT_CUDA(cuSurfObjectDestroy(surface));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(surface));
  resource.flags = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
  std::size_t widest = 0;
  ASSERT_CUDA(cuDeviceGetTexture1DLinearMaxWidth(&widest, CU_AD_FORMAT_FLOAT, 4, 0));
  EXPECT_LT(0U, widest);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDeviceGetTexture1DLinearMaxWidth(&widest, CU_AD_FORMAT_FLOAT, 3, 0));
  EXPECT_CUDA(cuArrayDestroy(plain));
  EXPECT_CUDA(cuArrayDestroy(stored));
}

}  // namespace
}  // namespace cuheap::sim
