#include <atomic>
#include <thread>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

using ThreadsTest = Machine;

TEST_F(ThreadsTest, ManyThreadsAllocateCopyRecordAndLaunchAtOnce) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, "image"));
  ASSERT_CUDA(cuModuleGetFunction(&function, module, "kernel"));
  std::atomic<int> failures{0};
  const auto work = [&](unsigned seed) {
    const auto check = [&](CUresult result) { failures += result == CUDA_SUCCESS ? 0 : 1; };
    check(cuCtxSetCurrent(context_));
    CUstream stream = nullptr;
    CUevent event = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < 300; ++i) {
      const std::size_t bytes = 1 + (seed * 7919 + i * 104729) % (3 * kMiB);
      CUdeviceptr linear = 0;
      CUdeviceptr pooled = 0;
      check(cuMemAlloc(&linear, bytes));
      check(cuMemAllocAsync(&pooled, bytes, stream));
      check(cuMemsetD8Async(linear, static_cast<unsigned char>(seed),
                            std::min<std::size_t>(bytes, 64), stream));
      check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
      check(cuEventRecord(event, stream));
      check(cuEventSynchronize(event));
      unsigned char byte = 0;
      check(cuMemcpyDtoH(&byte, linear, 1));
      failures += byte == static_cast<unsigned char>(seed) ? 0 : 1;
      check(cuMemFreeAsync(pooled, stream));
      check(cuMemFree(linear));
    }
    check(cuEventDestroy(event));
    check(cuStreamDestroy(stream));
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, failures);
  EXPECT_EQ(0U, cuheap_sim_live_blocks(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(UsedByDriver(), UsedByList());
  EXPECT_CUDA(cuModuleUnload(module));
}

}  // namespace
}  // namespace cuheap::sim
