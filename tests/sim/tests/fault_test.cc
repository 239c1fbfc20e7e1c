// Calls that fail on purpose: by a test's wish, and each in turn.
#include <thread>
#include <vector>

#include "tests/sim/testing/fail_each_call.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class FaultTest : public Machine {
 protected:
  void TearDown() override {
    cuheap_sim_clear_faults();
    Machine::TearDown();
  }
};

TEST_F(FaultTest, TheNthCallFailsAndLeavesItsOutParameterAndTheDeviceAlone) {
  const std::size_t used = UsedByList();
  ASSERT_EQ(0, cuheap_sim_fail("cuMemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY));
  const CUdeviceptr first = Alloc(2 * kMiB);
  CUdeviceptr second = 77;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&second, 2 * kMiB));
  EXPECT_EQ(77U, second);
  EXPECT_EQ(used + 2 * kMiB, UsedByList());
  EXPECT_CUDA(cuMemFree(Alloc(2 * kMiB)));
  EXPECT_CUDA(cuMemFree(first));
  EXPECT_EQ(1U, cuheap_sim_faults_fired());
  EXPECT_STREQ("cuMemAlloc", cuheap_sim_last_faulted());
}

TEST_F(FaultTest, AFailedFreeFreesNothing) {
  const CUdeviceptr block = Alloc(2 * kMiB);
  ASSERT_EQ(0, cuheap_sim_fail("cuMemFree", 1, CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(block));
  EXPECT_EQ(1U, cuheap_sim_live_blocks(0, CUHEAP_SIM_LINEAR));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(FaultTest, EachCallFailsUntilTheRuleIsCleared) {
  ASSERT_EQ(0, cuheap_sim_fail("cuCtxSynchronize", 0, CUDA_ERROR_LAUNCH_FAILED));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  cuheap_sim_clear_faults();
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(0U, cuheap_sim_faults_fired());
  EXPECT_EQ(nullptr, cuheap_sim_last_faulted());
}

TEST_F(FaultTest, ARuleWithoutANameCountsAllFunctions) {
  ASSERT_EQ(0, cuheap_sim_fail(nullptr, 3, CUDA_ERROR_UNKNOWN));
  EXPECT_CUDA(cuCtxSynchronize());
  const CUdeviceptr block = Alloc(kMiB);
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuMemsetD8(block, 1, 1));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(4U, cuheap_sim_calls_counted(nullptr));
  EXPECT_EQ(1U, cuheap_sim_calls_counted("cuMemAlloc"));
  EXPECT_EQ(0U, cuheap_sim_calls_counted("cuMemAllocManaged"));
}

TEST_F(FaultTest, AllAbisAndStreamVariantsAreOneFunction) {
  using Synchronize = CUresult (*)(CUstream);
  void* per_thread = nullptr;
  ASSERT_CUDA(cuGetProcAddress("cuStreamSynchronize", &per_thread, 12000, 2, nullptr));
  ASSERT_EQ(0, cuheap_sim_fail("cuStreamSynchronize", 2, CUDA_ERROR_UNKNOWN));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, reinterpret_cast<Synchronize>(per_thread)(nullptr));
}

TEST_F(FaultTest, TheRuleArmedFirstDecidesAndAllCount) {
  ASSERT_EQ(0, cuheap_sim_fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN));
  ASSERT_EQ(0, cuheap_sim_fail(nullptr, 1, CUDA_ERROR_LAUNCH_FAILED));
  ASSERT_EQ(0, cuheap_sim_fail(nullptr, 2, CUDA_ERROR_TIMEOUT));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_TIMEOUT, cuCtxSynchronize());
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(FaultTest, CallsOfAllThreadsAreCounted) {
  ASSERT_EQ(0, cuheap_sim_fail("cuCtxSynchronize", 401, CUDA_ERROR_UNKNOWN));
  const auto work = [this] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    for (int i = 0; i < 100; ++i) EXPECT_CUDA(cuCtxSynchronize());
  };
  std::thread threads[] = {std::thread(work), std::thread(work), std::thread(work),
                           std::thread(work)};
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuCtxSynchronize());
}

TEST_F(FaultTest, AnUnknownNameOrCodeIsRefused) {
  EXPECT_EQ(1, cuheap_sim_fail("cuMemAloc", 1, CUDA_ERROR_UNKNOWN));
  EXPECT_EQ(1, cuheap_sim_fail("cuMemAlloc_v2", 1, CUDA_ERROR_UNKNOWN));
  EXPECT_EQ(1, cuheap_sim_fail("cuMemAlloc", 1, CUDA_SUCCESS));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(0U, cuheap_sim_calls_counted(nullptr));
}

TEST_F(FaultTest, AWalkFailsEachCallOfAScenarioOnce) {
  std::vector<CUresult> results;
  const std::uint64_t failed = FailEachCall({CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN}, [&] {
    CUdeviceptr block = 0;
    const CUresult made = cuMemAlloc(&block, kMiB);
    if (made != CUDA_SUCCESS) return results.push_back(made);
    const CUresult set = cuMemsetD8(block, 1, kMiB);
    if (set != CUDA_SUCCESS) results.push_back(set);
    const CUresult freed = cuMemFree(block);
    if (freed == CUDA_SUCCESS) return;
    results.push_back(freed);
    EXPECT_CUDA(cuMemFree(block));
  });
  EXPECT_EQ(6U, failed);
  EXPECT_EQ((std::vector<CUresult>{CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                                   CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN,
                                   CUDA_ERROR_UNKNOWN}),
            results);
  EXPECT_EQ(0U, cuheap_sim_live_blocks(0, CUHEAP_SIM_LINEAR));
}

}  // namespace
}  // namespace cuheap::sim
