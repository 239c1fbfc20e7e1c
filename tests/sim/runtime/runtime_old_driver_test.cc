// The runtime on drivers that lack entry points. Each test runs in a child: the runtime opens its
// driver once, with the process's first call.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

class OldDriverTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("CUHEAP_SIM_WITHOUT"); }
};

TEST_F(OldDriverTest, WithoutTheNewerResolverTheDriverIsInsufficient) {
  setenv("CUHEAP_SIM_WITHOUT", "cuGetProcAddress_v2", 1);
  EXPECT_EQ(ExitOf([] {
              int count = 0;
              CHILD_NEEDS(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
              void* memory = nullptr;
              CHILD_NEEDS(cudaMalloc(&memory, 4096) == cudaErrorInsufficientDriver);
              return 0;
            }),
            0);
}

TEST_F(OldDriverTest, WhatNeedsAMissingFunctionIsNotSupportedAndTheRestWorks) {
  setenv("CUHEAP_SIM_WITHOUT", "cuMemPoolCreate,cuMemCreate", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ExitOf([] {
              cudaMemPool_t pool = nullptr;
              cudaMemPoolProps properties{};
              properties.allocType = cudaMemAllocationTypePinned;
              properties.location = {cudaMemLocationTypeDevice, 0};
              CHILD_NEEDS(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
              void* memory = nullptr;
              CHILD_NEEDS(cudaMalloc(&memory, 4096) == cudaSuccess);
              CHILD_NEEDS(cudaFree(memory) == cudaSuccess);
              void* function = &pool;
              CHILD_NEEDS(cudaGetDriverEntryPointByVersion("cuMemCreate", &function, 12000, 0,
                                                           nullptr) == cudaSuccess);
              CHILD_NEEDS(function == nullptr);
              return 0;
            }),
            0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cuheap-sim: cuMemPoolCreate is not known to the driver\n");
}

}  // namespace
}  // namespace cuheap::sim
