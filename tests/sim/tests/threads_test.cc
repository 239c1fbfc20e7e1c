#include <malloc.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class ThreadsTest : public Machine {
 protected:
  CUdeviceptr block_of_all_ = 0;
};

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

// Under the seeded clock the thread that has the turn must not keep it for ever.
TEST_F(ThreadsTest, AThreadMaySpinUntilAnotherOneCalls) {
  std::atomic<bool> called{false};
  std::atomic<bool> spins{false};
  std::thread spinner([&] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    spins = true;
    while (!called) {
    }
    EXPECT_CUDA(cuCtxSynchronize());
  });
  while (!spins) {
  }
  for (int i = 0; i < 3; ++i) EXPECT_CUDA(cuCtxSynchronize());
  called = true;
  spinner.join();
}

unsigned long long MyStreamId() {
  unsigned long long id = 0;
  EXPECT_CUDA(cuStreamGetId(CU_STREAM_PER_THREAD, &id));
  return id;
}

TEST_F(ThreadsTest, AThreadKeepsItsDefaultStreamWhateverContextsComeAndGo) {
  const unsigned long long mine = MyStreamId();
  for (int i = 0; i < 70; ++i) {
    CUcontext other = nullptr;
    ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
    EXPECT_NE(MyStreamId(), mine);
    ASSERT_CUDA(cuCtxDestroy(other));
  }
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_EQ(MyStreamId(), mine);
}

TEST_F(ThreadsTest, DefaultStreamsGoWithTheirThreads) {
  const auto short_life = [&] {
    std::thread([&] {
      EXPECT_CUDA(cuCtxSetCurrent(context_));
      EXPECT_CUDA(cuMemsetD8Async(block_of_all_, 1, 16, CU_STREAM_PER_THREAD));
    }).join();
  };
  block_of_all_ = Alloc(4096);
  for (int i = 0; i < 50; ++i) short_life();
  EXPECT_CUDA(cuCtxSynchronize());
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) short_life();
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_LT(mallinfo2().uordblks, before + kMiB) << "24 KiB a thread, when they stayed";
  EXPECT_CUDA(cuMemFree(block_of_all_));
}

}  // namespace
}  // namespace cuheap::sim
