// Calls that fail because CUHEAP_SIM_FAULTS says so.
#include <cuda.h>

#include <cstdlib>
#include <string>

#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

class FaultSettingTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("CUHEAP_SIM_FAULTS"); }
  // The code of cuInit in a process that finds the setting in its environment.
  static int InitWith(const char* setting) {
    setenv("CUHEAP_SIM_FAULTS", setting, 1);
    return ExitOf([] { return static_cast<int>(cuInit(0)); });
  }
};

TEST_F(FaultSettingTest, TheEnvironmentArmsRulesFromTheFirstCallOn) {
  EXPECT_EQ(CUDA_ERROR_NO_DEVICE, InitWith("cuInit:1=100"));
  setenv("CUHEAP_SIM_FAULTS", "cuInit:1=100,cuDeviceGetCount:2=3,cuDriverGetVersion:*=999", 1);
  EXPECT_EQ(0, ExitOf([] {
              int count = 0;
              int version = 6;
              CHILD_NEEDS(cuInit(0) == CUDA_ERROR_NO_DEVICE);
              CHILD_NEEDS(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);  // not counted
              CHILD_NEEDS(cuInit(0) == CUDA_SUCCESS);
              CHILD_NEEDS(cuDeviceGetCount(&count) == CUDA_SUCCESS);
              CHILD_NEEDS(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
              CHILD_NEEDS(cuDeviceGetCount(&count) == CUDA_SUCCESS);
              CHILD_NEEDS(cuDriverGetVersion(&version) == CUDA_ERROR_UNKNOWN && version == 6);
              return 0;
            }));
}

TEST_F(FaultSettingTest, AForkedChildCountsItsOwnCalls) {
  setenv("CUHEAP_SIM_FAULTS", "cuDriverGetVersion:2=999", 1);
  EXPECT_EQ(0, ExitOf([] {
              int version = 0;
              CHILD_NEEDS(cuDriverGetVersion(&version) == CUDA_SUCCESS);
              const int child = ExitOf([] {
                int own = 0;
                CHILD_NEEDS(cuDriverGetVersion(&own) == CUDA_SUCCESS);
                CHILD_NEEDS(cuDriverGetVersion(&own) == CUDA_ERROR_UNKNOWN);
                return 0;
              });
              CHILD_NEEDS(child == 0);
              CHILD_NEEDS(cuDriverGetVersion(&version) == CUDA_ERROR_UNKNOWN);
              return 0;
            }));
}

TEST_F(FaultSettingTest, WhatCannotBeReadIsNamedAndFailsInit) {
  for (const char* setting :
       {"cuMemAlloc", "cuMemAlloc:1", "cuMemAlloc=2", "cuMemAlloc:0=2", "cuMemAlloc:-1=2",
        "cuMemAlloc:1=0", "cuMemAlloc:1=out", "cuMemAlloc:1=2x", "cuMemAloc:1=2", ":1=2",
        "cuMemAlloc:1=2,,cuMemFree:1=2", "cuMemAlloc:1=99999",
        "cuMemAlloc:99999999999999999999=2"}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, InitWith(setting)) << setting;
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(0U, said.find(std::string("cuheap-sim: CUHEAP_SIM_FAULTS=") + setting +
                            " cannot be read: "))
        << said;
  }
}

}  // namespace
}  // namespace cuheap::sim
