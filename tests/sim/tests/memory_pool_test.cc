#include "tests/sim/tests/one_pool.h"

namespace cuheap::sim {
namespace {

class MemoryPoolTest : public OnePool<Machine> {
 protected:
  void TearDown() override {
    EXPECT_CUDA(cuMemPoolDestroy(pool_));
    Machine::TearDown();
  }

  void Set(CUmemPool_attribute attribute, cuuint64_t value) {
    EXPECT_CUDA(cuMemPoolSetAttribute(pool_, attribute, &value));
  }
};

TEST_F(MemoryPoolTest, UsedAndReservedAreToldApart) {
  const CUdeviceptr block = Take(1000);
  EXPECT_EQ(1024U, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_EQ(32 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_POOL));
  Set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_EQ(1024U, Get(CU_MEMPOOL_ATTR_USED_MEM_HIGH));
}

TEST_F(MemoryPoolTest, SynchronisationReleasesWhatExceedsTheThreshold) {
  EXPECT_CUDA(cuMemFreeAsync(Take(kMiB), stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  Set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
  EXPECT_CUDA(cuMemFreeAsync(Take(kMiB), stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemPoolTrimTo(pool_, 0));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
}

TEST_F(MemoryPoolTest, WithoutItsPoliciesMemoryStaysWithTheStreamThatFreedIt) {
  Set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
  int off = 0;
  EXPECT_CUDA(cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr first = Take(4096);
  ASSERT_CUDA(cuMemFreeAsync(first, stream_));
  CUdeviceptr theirs = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&theirs, 4096, pool_, other));
  EXPECT_NE(first, theirs);
  EXPECT_EQ(first, Take(4096));
  ASSERT_CUDA(cuMemFreeAsync(first, stream_));
  ASSERT_CUDA(cuCtxSynchronize());
  CUdeviceptr later = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&later, 4096, pool_, other));
  EXPECT_EQ(first, later);
  EXPECT_CUDA(cuMemFreeAsync(later, other));
  EXPECT_CUDA(cuMemFreeAsync(theirs, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_CUDA(cuStreamDestroy(other));
}

TEST_F(MemoryPoolTest, TrimmingKeepsSegmentsInUse) {
  const CUdeviceptr kept = Take(40 * kMiB);
  const CUdeviceptr freed = Take(64 * kMiB);
  EXPECT_CUDA(cuMemFreeAsync(freed, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuMemPoolTrimTo(pool_, 0));
  EXPECT_EQ(40 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemFreeAsync(kept, stream_));
}

TEST_F(MemoryPoolTest, NeighboursMergeWhenTheyAreFreed) {
  const CUdeviceptr first = Take(8 * kMiB);
  const CUdeviceptr second = Take(8 * kMiB);
  const CUdeviceptr third = Take(8 * kMiB);
  const CUdeviceptr fourth = Take(8 * kMiB);
  for (const CUdeviceptr block : {first, third, second, fourth}) {
    EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  }
  Set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  const CUdeviceptr whole = Take(32 * kMiB);
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemFreeAsync(whole, stream_));
}

TEST_F(MemoryPoolTest, NearTheCapacityPoolsGrowByExactSizes) {
  const CUdeviceptr most = Alloc(4 * kGiB - 256 * kMiB - 6 * kMiB);
  const CUdeviceptr block = Take(5 * kMiB);
  EXPECT_EQ(6 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  CUdeviceptr none = 1;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&none, 2 * kMiB, pool_, stream_));
  EXPECT_EQ(1U, none);
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuMemFree(most));
}

TEST_F(MemoryPoolTest, APoolOutlivesItsDestructionUntilTheLastBlockIsFreed) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool other = nullptr;
  ASSERT_CUDA(cuMemPoolCreate(&other, &properties));
  CUdeviceptr block = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&block, kMiB, other, stream_));
  EXPECT_CUDA(cuMemPoolDestroy(other));
  EXPECT_CUDA(cuMemsetD8Async(block, 1, kMiB, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&block, 8, other, stream_));
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_POOL));
}

TEST_F(MemoryPoolTest, TheCurrentPoolServesPlainAllocations) {
  ASSERT_CUDA(cuDeviceSetMemPool(0, pool_));
  CUdeviceptr block = 0;
  ASSERT_CUDA(cuMemAllocAsync(&block, 100, stream_));
  EXPECT_EQ(512U, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  CUmemoryPool owner = nullptr;
  ASSERT_CUDA(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
  EXPECT_EQ(pool_, owner);
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
}

}  // namespace
}  // namespace cuheap::sim
