// RMM's pool and arena of device memory, unmodified, on the simulated device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <rmm/mr/device/arena_memory_resource.hpp>
#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <rmm/mr/device/pool_memory_resource.hpp>

#include "tests/apps/churn.h"
#include "tests/apps/device_figures.h"
#include "tests/base/seeds.h"

namespace cuheap::apps {
namespace {

using ::testing::IsEmpty;
using Upstream = rmm::mr::cuda_memory_resource;
using Pool = rmm::mr::pool_memory_resource<Upstream>;
using Arena = rmm::mr::arena_memory_resource<Upstream>;

constexpr std::size_t kWhole = 128 * kMiB;

Heap HeapOf(rmm::mr::device_memory_resource& resource) {
  return {.allocate = [&resource](std::size_t bytes, cudaStream_t stream) -> void* {
            try {
              return resource.allocate(bytes, rmm::cuda_stream_view(stream));
            } catch (const rmm::bad_alloc&) {
              return nullptr;
            }
          },
          .deallocate =
              [&resource](void* block, std::size_t bytes, cudaStream_t stream) {
                resource.deallocate(block, bytes, rmm::cuda_stream_view(stream));
              }};
}

class RmmTest : public DeviceFigures {
 protected:
  // A block as large as the resource can be had only when every byte came back and is in one piece.
  static void ExpectWhole(rmm::mr::device_memory_resource& resource) {
    EXPECT_EQ(LinearBytes(), kWhole);
    void* const block = resource.allocate(kWhole);
    EXPECT_EQ(LinearBytes(), kWhole);
    EXPECT_THROW(resource.allocate(256), rmm::out_of_memory);
    resource.deallocate(block, kWhole);
  }

  template <typename Resource>
  static void ExpectChurnLeavesItWhole(Resource& resource, ChurnOptions options) {
    for (const std::uint32_t seed : testing::Seeds({1, 2})) {
      SCOPED_TRACE(seed);
      options.seed = seed;
      EXPECT_THAT(Churn(HeapOf(resource), options), IsEmpty());
      ExpectWhole(resource);
    }
  }

  Upstream upstream_;
};

TEST_F(RmmTest, ThePoolServesThreadsOnSharedStreams) {
  Pool pool(&upstream_, kWhole, kWhole);
  ExpectChurnLeavesItWhole(pool, {});
}

TEST_F(RmmTest, ThePoolTakesBlocksBackOnOtherStreams) {
  Pool pool(&upstream_, kWhole, kWhole);
  ExpectChurnLeavesItWhole(pool, {.release = Release::kOnAnyStream});
}

TEST_F(RmmTest, ThePoolServesTheDefaultStreamOfEachThread) {
  Pool pool(&upstream_, kWhole, kWhole);
  ExpectChurnLeavesItWhole(pool, {.streams = 0});
}

TEST_F(RmmTest, ThePoolGrowsByWhatTheDeviceGives) {
  {
    Pool pool(&upstream_, kMiB);
    EXPECT_EQ(LinearBytes(), kMiB);
    EXPECT_THAT(Churn(HeapOf(pool), {.seed = 3}), IsEmpty());
    EXPECT_GT(pool.pool_size(), kMiB);
    EXPECT_EQ(pool.pool_size(), LinearBytes());
    EXPECT_GT(LinearBlocks(), 1U);
  }
  EXPECT_EQ(LinearBytes(), 0U);
}

TEST_F(RmmTest, APoolWhoseGrowthTheDeviceRefusesAsksForLess) {
  Pool pool(&upstream_, 512 * kMiB);
  void* const first = pool.allocate(512 * kMiB);
  void* const second = pool.allocate(64 * kMiB);  // the device lacks 512 MiB more
  EXPECT_EQ(pool.pool_size(), (512 + 256) * kMiB);
  EXPECT_EQ(LinearBytes(), pool.pool_size());
  EXPECT_THROW(pool.allocate(512 * kMiB), rmm::out_of_memory);
  pool.deallocate(second, 64 * kMiB);
  pool.deallocate(first, 512 * kMiB);
}

TEST_F(RmmTest, TheArenaServesThreadsOnSharedStreams) {
  Arena arena(&upstream_, kWhole);
  ExpectChurnLeavesItWhole(arena, {.largest = 4 * kMiB});
}

TEST_F(RmmTest, TheArenaTakesBlocksBackOnOtherStreams) {
  Arena arena(&upstream_, kWhole);
  ExpectChurnLeavesItWhole(arena, {.release = Release::kOnAnyStream});
}

TEST_F(RmmTest, TheArenaServesTheDefaultStreamOfEachThread) {
  Arena arena(&upstream_, kWhole);
  ExpectChurnLeavesItWhole(arena, {.streams = 0});
}

TEST_F(RmmTest, AnArenaTakesHalfOfWhatTheDeviceHasFree) {
  const std::size_t free = 1024 * kMiB - used_before_;
  Arena arena(&upstream_);
  EXPECT_EQ(LinearBytes(), free / 2);
}

}  // namespace
}  // namespace cuheap::apps
