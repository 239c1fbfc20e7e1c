// Arrays that get their memory later: with deferred mapping, and sparse ones tile by tile.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

class SparseArrayTest : public WithArrays {
 protected:
  static constexpr std::size_t kTile = 64U << 10;

  static CUmemGenericAllocationHandle TilePool(std::size_t bytes, int device = 0) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    properties.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
  }
  static CUarrayMapInfo Map(CUarray array, CUmemGenericAllocationHandle pool) {
    CUarrayMapInfo info{};
    info.resourceType = CU_RESOURCE_TYPE_ARRAY;
    info.resource.array = array;
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandle.memHandle = pool;
    info.deviceBitMask = 1;
    return info;
  }
  // Tiles of 128 by 128 floats.
  static CUarrayMapInfo MapTiles(CUarray array, CUmemGenericAllocationHandle pool, unsigned x,
                                 unsigned y, unsigned width, unsigned height) {
    CUarrayMapInfo info = Map(array, pool);
    auto& level = info.subresource.sparseLevel;
    level.offsetX = x;
    level.offsetY = y;
    level.extentWidth = width;
    level.extentHeight = height;
    level.extentDepth = 1;
    return info;
  }
  static CUarrayMapInfo Unmapped(CUarrayMapInfo info) {
    info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    info.memHandle.memHandle = 0;
    return info;
  }
  // After work that failed.
  void MakeContextAnew() {
    EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
    EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
    EXPECT_CUDA(cuCtxSetCurrent(context_));
  }
};

TEST_F(SparseArrayTest, OnlySuchArraysTellTheirRequirements) {
  CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  const CUarray plain = NewArray(Floats(256, 256));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetSparseProperties(&sparse, plain));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetMemoryRequirements(&needs, plain, 0));
  const CUarray later = NewArray(Floats(256, 256, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
  ASSERT_CUDA(cuArrayGetMemoryRequirements(&needs, later, 0));
  EXPECT_LE(256U * 256U * 4U, needs.size);
  EXPECT_EQ(0U, needs.size % needs.alignment);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuArrayGetSparseProperties(&sparse, later));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuArrayGetMemoryRequirements(&needs, later, 9));
  const CUarray tiled = NewArray(Floats(300, 200, 0, CUDA_ARRAY3D_SPARSE));
  ASSERT_CUDA(cuArrayGetSparseProperties(&sparse, tiled));
  EXPECT_EQ(kTile, std::size_t{4} * sparse.tileExtent.width * sparse.tileExtent.height *
                       sparse.tileExtent.depth);
  EXPECT_EQ(0U, sparse.miptailSize);
  const CUarray small = NewArray(Floats(8, 8, 0, CUDA_ARRAY3D_SPARSE));
  ASSERT_CUDA(cuArrayGetSparseProperties(&sparse, small));
  EXPECT_EQ(unsigned{CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL}, sparse.flags);
  EXPECT_EQ(kTile, sparse.miptailSize);
  EXPECT_EQ(2 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_ARRAY));  // of the plain one alone
  for (const CUarray array : {plain, later, tiled, small}) EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(SparseArrayTest, ADeferredArrayIsMappedWholeAndKeepsItsMemory) {
  const CUarray array = NewArray(Floats(256, 4, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
  const auto pool = TilePool(2 * kMiB);
  const CUstream stream = NewStream();
  CUarrayMapInfo info = Map(array, pool);
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuMemRelease(pool));
  EXPECT_EQ(2 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  std::vector<std::uint32_t> in(1024);
  std::iota(in.begin(), in.end(), 0U);
  const CUDA_MEMCPY3D up = Upload(in.data(), array, 1024, 4, 1);
  ASSERT_CUDA(cuMemcpy3D(&up));
  std::vector<std::uint32_t> out(1024);
  const CUDA_MEMCPY3D down = Download(array, out.data(), 1024, 4, 1);
  ASSERT_CUDA(cuMemcpy3D(&down));
  EXPECT_EQ(in, out);
  info = Unmapped(info);
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(SparseArrayTest, TilesAreMappedOneByOneAndHoldWhatIsCopied) {
  const CUarray array = NewArray(Floats(300, 200, 0, CUDA_ARRAY3D_SPARSE));
  const auto pool = TilePool(2 * kMiB);
  CUarrayMapInfo list[] = {MapTiles(array, pool, 0, 0, 256, 128),
                           MapTiles(array, pool, 0, 128, 256, 72)};
  list[1].offset = 2 * kTile;
  ASSERT_CUDA(cuMemMapArrayAsync(list, 2, nullptr));
  std::vector<std::uint32_t> in(250 * 200);
  std::iota(in.begin(), in.end(), 7U);
  const CUDA_MEMCPY3D up = Upload(in.data(), array, 1000, 200, 1);
  ASSERT_CUDA(cuMemcpy3D(&up));
  std::vector<std::uint32_t> out(250 * 200);
  const CUDA_MEMCPY3D down = Download(array, out.data(), 1000, 200, 1);
  ASSERT_CUDA(cuMemcpy3D(&down));
  EXPECT_EQ(in, out);
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_CUDA(cuMemRelease(pool));
}

TEST_F(SparseArrayTest, WorkOnTilesWithoutMemoryBreaksItsContext) {
  const CUarray array = NewArray(Floats(300, 200, 0, CUDA_ARRAY3D_SPARSE));
  const auto pool = TilePool(2 * kMiB);
  CUarrayMapInfo info = MapTiles(array, pool, 0, 0, 128, 128);
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, nullptr));
  std::vector<std::uint32_t> host(200 * 8);
  const CUDA_MEMCPY3D inside = Upload(host.data(), array, 512, 8, 1);
  EXPECT_CUDA(cuMemcpy3D(&inside));
  const CUDA_MEMCPY3D beyond = Upload(host.data(), array, 800, 8, 1);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpy3D(&beyond));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  MakeContextAnew();
  EXPECT_CUDA(cuMemRelease(pool));
}

TEST_F(SparseArrayTest, MipTailsAreMappedByTheByte) {
  const CUDA_ARRAY3D_DESCRIPTOR description =
      Floats(256, 256, 3, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_LAYERED);
  CUmipmappedArray mipmap = nullptr;
  ASSERT_CUDA(cuMipmappedArrayCreate(&mipmap, &description, 4));  // 256, 128, 64, 32
  CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
  ASSERT_CUDA(cuMipmappedArrayGetSparseProperties(&sparse, mipmap));
  EXPECT_EQ(2U, sparse.miptailFirstLevel);
  EXPECT_EQ(kTile, sparse.miptailSize);  // of one layer
  EXPECT_EQ(0U, sparse.flags);
  const auto pool = TilePool(2 * kMiB);
  CUarrayMapInfo info = Map(nullptr, pool);
  info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  info.resource.mipmap = mipmap;
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
  info.subresource.miptail.layer = 2;
  info.subresource.miptail.size = kTile;
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, nullptr));
  CUarray level = nullptr;
  ASSERT_CUDA(cuMipmappedArrayGetLevel(&level, mipmap, 3));
  std::vector<std::uint32_t> in(32 * 32);
  std::iota(in.begin(), in.end(), 1U);
  CUDA_MEMCPY3D up = Upload(in.data(), level, 128, 32, 1);
  up.dstZ = 2;
  ASSERT_CUDA(cuMemcpy3D(&up));
  std::vector<std::uint32_t> out(32 * 32);
  CUDA_MEMCPY3D down = Download(level, out.data(), 128, 32, 1);
  down.srcZ = 2;
  ASSERT_CUDA(cuMemcpy3D(&down));
  EXPECT_EQ(in, out);
  info.subresource.miptail.layer = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMapArrayAsync(&info, 1, nullptr));
  info.subresource.miptail.layer = 0;
  info.subresource.miptail.offset = kTile;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMapArrayAsync(&info, 1, nullptr));
  EXPECT_CUDA(cuMipmappedArrayDestroy(mipmap));
  EXPECT_CUDA(cuMemRelease(pool));
}

TEST_F(SparseArrayTest, WrongEntriesMapNothing) {
  const CUarray array = NewArray(Floats(300, 200, 0, CUDA_ARRAY3D_SPARSE));
  const CUarray plain = NewArray(Floats(300, 200));
  const auto pool = TilePool(2 * kMiB);
  const auto elsewhere = TilePool(2 * kMiB, 1);
  const CUarrayMapInfo good = MapTiles(array, pool, 0, 0, 128, 128);
  const auto refused = [&](auto change, CUresult code = CUDA_ERROR_INVALID_VALUE) {
    CUarrayMapInfo list[] = {good, good};
    change(list[1]);
    EXPECT_EQ(code, cuMemMapArrayAsync(list, 2, nullptr));
  };
  refused([&](auto& info) { info.resource.array = plain; });
  refused([](auto& info) { info.resource.array = nullptr; }, CUDA_ERROR_INVALID_HANDLE);
  refused([](auto& info) { info.memHandle.memHandle = 12; }, CUDA_ERROR_INVALID_HANDLE);
  refused([&](auto& info) { info.memHandle.memHandle = elsewhere; });
  refused([](auto& info) { info.deviceBitMask = 2; });
  refused([](auto& info) { info.deviceBitMask = 3; });
  refused([](auto& info) { info.flags = 1; });
  refused([](auto& info) { info.offset = 4096; });
  refused([](auto& info) { info.offset = 2 * kMiB; });
  refused([](auto& info) { info.subresource.sparseLevel.offsetX = 64; });
  refused([](auto& info) { info.subresource.sparseLevel.offsetX = 384; });
  refused([](auto& info) { info.subresource.sparseLevel.extentWidth = 100; });
  refused([](auto& info) { info.subresource.sparseLevel.extentDepth = 0; });
  refused([](auto& info) { info.subresource.sparseLevel.layer = 1; });
  refused([](auto& info) { info.subresource.sparseLevel.level = 1; });
  refused([](auto& info) { info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP; });  // a handle
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMapArrayAsync(nullptr, 1, nullptr));
  EXPECT_CUDA(cuArrayDestroy(plain));
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_CUDA(cuMemRelease(pool));
  EXPECT_CUDA(cuMemRelease(elsewhere));
}

TEST_F(SparseArrayTest, ACaptureRefusesMappings) {
  const CUarray array = NewArray(Floats(300, 200, 0, CUDA_ARRAY3D_SPARSE));
  const auto pool = TilePool(2 * kMiB);
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUarrayMapInfo info = MapTiles(array, pool, 0, 0, 128, 128);
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemMapArrayAsync(&info, 1, stream));
  CUgraph graph = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_CUDA(cuMemRelease(pool));
}

}  // namespace
}  // namespace cuheap::sim
