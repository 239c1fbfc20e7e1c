// CUB's CachingDeviceAllocator, as it comes in the CUDA toolkit, on the simulated device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cub/util_allocator.cuh>
#include <vector>

#include "tests/apps/churn.h"
#include "tests/apps/device_figures.h"
#include "tests/base/seeds.h"

namespace cuheap::apps {
namespace {

using cub::CachingDeviceAllocator;
using ::testing::IsEmpty;

Heap HeapOf(CachingDeviceAllocator& cache) {
  return {
      .allocate =
          [&cache](std::size_t bytes, cudaStream_t stream) {
            void* block = nullptr;
            return cache.DeviceAllocate(&block, bytes, stream) == cudaSuccess ? block : nullptr;
          },
      .deallocate = [&cache](void* block, std::size_t,
                             cudaStream_t) { EXPECT_EQ(cache.DeviceFree(block), cudaSuccess); }};
}

class CubTest : public DeviceFigures {
 protected:
  void* Allocate(std::size_t bytes, cudaStream_t stream = nullptr) {
    void* block = nullptr;
    EXPECT_EQ(cache_.DeviceAllocate(&block, bytes, stream), cudaSuccess);
    return block;
  }
  void Free(void* block) { EXPECT_EQ(cache_.DeviceFree(block), cudaSuccess); }

  void ExpectNothingLiveAndAllComesBack() {
    EXPECT_EQ(cache_.cached_bytes[0].live, 0U);
    EXPECT_EQ(cache_.cached_bytes[0].free, LinearBytes());
    EXPECT_EQ(cache_.FreeAllCached(), cudaSuccess);
    EXPECT_EQ(LinearBytes(), 0U);
  }

  CachingDeviceAllocator cache_;  // bins of 512 bytes to 2 MiB, each eight times the one before
};

TEST_F(CubTest, BlocksOfOneThreadNeverOverlapAndComeBack) {
  for (const std::uint32_t seed : testing::Seeds({1, 2, 3})) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(Churn(HeapOf(cache_), {.seed = seed, .threads = 1, .turns = 1000}), IsEmpty());
    EXPECT_GT(LinearBytes(), 0U);
    ExpectNothingLiveAndAllComesBack();
  }
}

TEST_F(CubTest, BlocksOfFourThreadsNeverOverlapAndComeBack) {
  for (const std::uint32_t seed : testing::Seeds({1, 2, 3})) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(Churn(HeapOf(cache_), {.seed = seed, .threads = 4}), IsEmpty());
    EXPECT_GT(LinearBytes(), 0U);
    ExpectNothingLiveAndAllComesBack();
  }
}

TEST_F(CubTest, AFreedBlockServesItsStreamAgainAndAnIdleStreamToo) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  void* const block = Allocate(5000, streams[0]);
  Free(block);
  EXPECT_EQ(Allocate(30000, streams[0]), block);
  Free(block);
  EXPECT_EQ(Allocate(32768, streams[1]), block);
  EXPECT_EQ(LinearBlocks(), 1U);
  Free(block);
  ExpectNothingLiveAndAllComesBack();
  for (cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CubTest, RequestsAreRoundedToTheirBinAndLargerOnesAreExact) {
  const struct {
    std::size_t request;
    std::size_t block;
  } cases[] = {{1, 512},           {513, 4096},          {4097, 32768},
               {300000, 2 * kMiB}, {2 * kMiB, 2 * kMiB}, {3000000, 3000000}};
  for (const auto& [request, size] : cases) {
    void* const block = Allocate(request);
    EXPECT_EQ(LinearBytes(), size) << request;
    Free(block);
    EXPECT_EQ(LinearBytes(), size > 2 * kMiB ? 0 : size) << request;
    EXPECT_EQ(cache_.FreeAllCached(), cudaSuccess);
  }
}

TEST_F(CubTest, WhatExceedsTheCacheGoesBackToTheDevice) {
  std::vector<void*> blocks(5);
  for (void*& block : blocks) block = Allocate(2 * kMiB);
  EXPECT_EQ(LinearBytes(), 10 * kMiB);
  for (void* block : blocks) Free(block);
  EXPECT_EQ(LinearBytes(), 4 * kMiB);  // the cache holds less than three of the largest bin
  ExpectNothingLiveAndAllComesBack();
}

TEST_F(CubTest, AFullDeviceMakesTheCacheGiveItsBlocksBack) {
  Free(Allocate(2 * kMiB));
  void* filler = nullptr;
  const std::size_t rest = 1024 * kMiB - UsedByDriver();
  ASSERT_EQ(cudaMalloc(&filler, rest), cudaSuccess);
  void* const block = Allocate(5000);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(LinearBytes(), rest + 32768);
  Free(block);
  EXPECT_EQ(cudaFree(filler), cudaSuccess);
  ExpectNothingLiveAndAllComesBack();
}

}  // namespace
}  // namespace cuheap::apps
