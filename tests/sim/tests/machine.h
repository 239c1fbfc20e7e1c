// One initialised machine for the tests of a program: two devices of 4 GiB, a current primary
// context on device 0, and the check that a test leaves nothing behind.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "tests/sim/engine/sim_api.h"

namespace cuheap::sim {

inline constexpr std::size_t kMiB = 1U << 20;
inline constexpr std::size_t kGiB = 1U << 30;

#define ASSERT_CUDA(call) ASSERT_EQ(CUDA_SUCCESS, call)
#define EXPECT_CUDA(call) EXPECT_EQ(CUDA_SUCCESS, call)

class Machine : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CUHEAP_SIM_MEMORY", "4G", 1);
    setenv("CUHEAP_SIM_DEVICES", "2", 1);
    ASSERT_CUDA(cuInit(0));
  }

  void SetUp() override {
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
    ASSERT_CUDA(cuCtxSetCurrent(context_));
  }

  void TearDown() override {
    EXPECT_CUDA(cuCtxSetCurrent(nullptr));
    EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
    CUmemoryPool pool = nullptr;
    EXPECT_CUDA(cuDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_CUDA(cuMemPoolTrimTo(pool, 0));
    for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) {
      EXPECT_EQ(0U, cuheap_sim_used(0, kind)) << "left behind, kind " << kind;
    }
  }

  static std::size_t UsedByDriver() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_CUDA(cuMemGetInfo(&free, &total));
    return total - free;
  }
  static std::size_t UsedByList() {
    std::size_t sum = cuheap_sim_other_processes(0);
    for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) sum += cuheap_sim_used(0, kind);
    return sum;
  }
  static CUdeviceptr Alloc(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(cuMemAlloc(&address, bytes));
    return address;
  }

  CUcontext context_ = nullptr;
};

}  // namespace cuheap::sim
