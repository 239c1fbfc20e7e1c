// Work on arrays in streams that nothing orders. Runs under the clocks of race_test.cc.
#include <cstdint>
#include <vector>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

class ArrayRaceTest : public WithArrays {
 protected:
  void SetUp() override {
    WithArrays::SetUp();
    array_ = NewArray(Floats(64, 8));
    ASSERT_CUDA(cuMemAllocHost(&host_, 4096));
    first_ = NewStream();
    second_ = NewStream();
  }
  void TearDown() override {
    EXPECT_CUDA(cuCtxSynchronize());
    EXPECT_CUDA(cuStreamDestroy(first_));
    EXPECT_CUDA(cuStreamDestroy(second_));
    if (array_ != nullptr) {
      EXPECT_CUDA(cuArrayDestroy(array_));
    }
    EXPECT_CUDA(cuMemFreeHost(host_));
    WithArrays::TearDown();
  }
  // Columns of 32 floats.
  CUDA_MEMCPY3D UploadColumns(std::size_t first) {
    CUDA_MEMCPY3D box = Upload(host_, array_, 128, 8, 1);
    box.dstXInBytes = first * 4;
    return box;
  }

  CUarray array_ = nullptr;
  void* host_ = nullptr;
  CUstream first_ = nullptr;
  CUstream second_ = nullptr;
};

TEST_F(ArrayRaceTest, CopiesToTheSameElementsAreReported) {
  const CUDA_MEMCPY3D box = UploadColumns(0);
  ASSERT_CUDA(cuMemcpy3DAsync(&box, first_));
  ASSERT_CUDA(cuMemcpy3DAsync(&box, second_));
  EXPECT_LE(1U, cuheap_sim_races());
}

TEST_F(ArrayRaceTest, AnEventOrdersThem) {
  const CUDA_MEMCPY3D box = UploadColumns(0);
  ASSERT_CUDA(cuMemcpy3DAsync(&box, first_));
  After(second_, first_);
  ASSERT_CUDA(cuMemcpy3DAsync(&box, second_));
  EXPECT_EQ(0U, cuheap_sim_races()) << LastRace();
}

TEST_F(ArrayRaceTest, ColumnsBesideEachOtherDoNotMeet) {
  const CUDA_MEMCPY3D left = UploadColumns(0);
  const CUDA_MEMCPY3D right = UploadColumns(32);
  ASSERT_CUDA(cuMemcpy3DAsync(&left, first_));
  ASSERT_CUDA(cuMemcpy3DAsync(&right, second_));
  EXPECT_EQ(0U, cuheap_sim_races()) << LastRace();
}

TEST_F(ArrayRaceTest, DestroyingAnArrayWaitsForItsWork) {
  const CUDA_MEMCPY3D box = UploadColumns(0);
  ASSERT_CUDA(cuMemcpy3DAsync(&box, first_));
  EXPECT_CUDA(cuArrayDestroy(array_));
  array_ = nullptr;
  EXPECT_CUDA(cuStreamQuery(first_));
  EXPECT_EQ(0U, cuheap_sim_races()) << LastRace();
}

TEST_F(ArrayRaceTest, AMappingIsWorkOfItsStream) {
  const CUarray later = NewArray(Floats(64, 8, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle pool = 0;
  ASSERT_CUDA(cuMemCreate(&pool, 2 * kMiB, &properties, 0));
  CUarrayMapInfo info{};
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = later;
  info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
  info.memHandle.memHandle = pool;
  info.deviceBitMask = 1;
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, first_));
  const CUDA_MEMCPY3D box = Upload(host_, later, 256, 8, 1);
  ASSERT_CUDA(cuMemcpy3DAsync(&box, first_));  // after the mapping, so it finds memory
  EXPECT_EQ(0U, cuheap_sim_races()) << LastRace();
  ASSERT_CUDA(cuStreamSynchronize(first_));
  ASSERT_CUDA(cuMemMapArrayAsync(&info, 1, second_));
  ASSERT_CUDA(cuMemcpy3DAsync(&box, first_));
  EXPECT_LE(1U, cuheap_sim_races());
  EXPECT_CUDA(cuArrayDestroy(later));
  EXPECT_CUDA(cuMemRelease(pool));
}

}  // namespace
}  // namespace cuheap::sim
