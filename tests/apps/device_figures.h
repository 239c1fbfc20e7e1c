// What the simulated device itself says about the memory of a program, and the check that the
// program gave back all of it.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/sim/engine/sim_api.h"

namespace cuheap::apps {

inline constexpr std::size_t kMiB = 1U << 20;

inline std::uint64_t LinearBytes() { return cuheap_sim_live_bytes(0, CUHEAP_SIM_LINEAR); }
inline std::uint64_t LinearBlocks() { return cuheap_sim_live_blocks(0, CUHEAP_SIM_LINEAR); }

inline std::size_t UsedByDriver() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return total - free;
}

// A device of 1 GiB on which a test leaves nothing behind.
class DeviceFigures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CUHEAP_SIM_MEMORY", "1G", 1);
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  }
  void SetUp() override { used_before_ = UsedByDriver(); }
  void TearDown() override {
    EXPECT_EQ(LinearBlocks(), 0U);
    EXPECT_EQ(UsedByDriver(), used_before_);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }

  std::size_t used_before_ = 0;
};

}  // namespace cuheap::apps
