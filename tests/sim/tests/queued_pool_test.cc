// Pools while their work is still queued: the manual clock.
#include "tests/sim/tests/one_pool.h"
#include "tests/sim/tests/queued_work.h"

namespace cuheap::sim {
namespace {

class QueuedPoolTest : public OnePool<QueuedWork> {};

TEST_F(QueuedPoolTest, MemoryIsUsedUntilItsFreeIsDone) {
  const CUdeviceptr block = Take(kMiB);
  EXPECT_EQ(kMiB, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_EQ(kMiB, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(1, cuheap_sim_advance_stream(stream_));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

TEST_F(QueuedPoolTest, TrimmingLeavesMemoryWhoseFreeIsQueued) {
  EXPECT_CUDA(cuMemFreeAsync(Take(kMiB), stream_));
  EXPECT_CUDA(cuMemPoolTrimTo(pool_, 0));
  EXPECT_EQ(32 * kMiB, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_EQ(1, cuheap_sim_advance_stream(stream_));
  EXPECT_CUDA(cuMemPoolTrimTo(pool_, 0));
  EXPECT_EQ(0U, Get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

TEST_F(QueuedPoolTest, ADestroyedPoolKeepsItsMemoryUntilTheLastFreeIsDone) {
  const CUdeviceptr block = Take(kMiB);
  EXPECT_CUDA(cuMemsetD8Async(block, 3, kMiB, stream_));
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
  EXPECT_EQ(32 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_POOL));
  EXPECT_CUDA(cuStreamSynchronize(stream_));  // the set had its memory
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_POOL));
}

TEST_F(QueuedPoolTest, FreeingPoolMemoryAtOnceWaitsForNothing) {
  const CUdeviceptr block = Take(kMiB);
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

TEST_F(QueuedPoolTest, FreeingLinearMemoryWaitsForTheDevice) {
  const CUdeviceptr block = Alloc(kMiB);
  EXPECT_CUDA(cuMemsetD8Async(block, 3, kMiB, stream_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuStreamQuery(stream_));
  EXPECT_EQ(0U, cuheap_sim_races());
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

TEST_F(QueuedPoolTest, LinearMemoryMayBeFreedInAStream) {
  const CUdeviceptr block = Alloc(kMiB);
  EXPECT_CUDA(cuMemsetD8Async(block, 3, kMiB, stream_));
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, cuheap_sim_races());
  EXPECT_EQ(0U, cuheap_sim_live_bytes(0, CUHEAP_SIM_LINEAR));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

TEST_F(QueuedPoolTest, MemoryWithSynchronousOperationsIsSetWhenTheCallReturns) {
  const CUdeviceptr block = Alloc(kMiB);
  EXPECT_CUDA(cuMemsetD8(block, 1, kMiB));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  unsigned on = 1;
  EXPECT_CUDA(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
  EXPECT_CUDA(cuStreamQuery(nullptr));
  EXPECT_CUDA(cuMemsetD8(block, 2, kMiB));
  EXPECT_CUDA(cuStreamQuery(nullptr));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuMemPoolDestroy(pool_));
}

}  // namespace
}  // namespace cuheap::sim
