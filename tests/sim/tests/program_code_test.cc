// Functions of the program that the driver calls: where they run, and what they may not do.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class ProgramCodeTest : public Machine {
 protected:
  static CUresult AllocateAndFree() {
    CUdeviceptr block = 0;
    const CUresult result = cuMemAlloc(&block, 4096);
    if (result == CUDA_SUCCESS) cuMemFree(block);
    return result;
  }
  static bool BecomesTrue(const std::atomic<bool>& flag) {
    for (int looks = 0; looks < 5000 && !flag; ++looks)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return flag;
  }
};

TEST_F(ProgramCodeTest, ItMayNotCallTheDriver) {
  CUresult result = CUDA_SUCCESS;
  EXPECT_CUDA(cuLaunchHostFunc(
      nullptr, [](void* data) { *static_cast<CUresult*>(data) = AllocateAndFree(); }, &result));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, result);
  result = CUDA_SUCCESS;
  EXPECT_CUDA(cuStreamAddCallback(
      nullptr,
      [](CUstream, CUresult, void* data) { *static_cast<CUresult*>(data) = cuCtxSynchronize(); },
      &result, 0));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, result);
  EXPECT_CUDA(AllocateAndFree());
}

TEST_F(ProgramCodeTest, OtherThreadsMayCallTheDriverMeanwhile) {
  struct Meeting {
    std::atomic<bool> begun{false};
    std::atomic<bool> over{false};
  } meeting;
  std::thread caller([&] {
    while (!meeting.begun) std::this_thread::yield();
    const char* name = nullptr;
    EXPECT_CUDA(cuGetErrorName(CUDA_SUCCESS, &name));
    int devices = 0;
    EXPECT_CUDA(cuDeviceGetCount(&devices));
    meeting.over = true;
  });
  EXPECT_CUDA(cuLaunchHostFunc(
      nullptr,
      [](void* data) {
        auto* at = static_cast<Meeting*>(data);
        at->begun = true;
        while (!at->over) std::this_thread::yield();
      },
      &meeting));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  caller.join();
}

TEST_F(ProgramCodeTest, DestructorsRunInAThreadOfTheDriver) {
  struct Owner {
    std::mutex mutex;
    std::thread::id thread;
    CUresult result = CUDA_SUCCESS;
    std::atomic<bool> over{false};
  } owner;
  const auto destroy = [](void* data) {
    auto* at = static_cast<Owner*>(data);
    const std::lock_guard<std::mutex> guard(at->mutex);
    at->thread = std::this_thread::get_id();
    at->result = AllocateAndFree();
    at->over = true;
  };
  CUuserObject object = nullptr;
  ASSERT_CUDA(cuUserObjectCreate(&object, &owner, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  {
    const std::lock_guard<std::mutex> guard(owner.mutex);  // what the destructor wants, too
    EXPECT_CUDA(cuUserObjectRelease(object, 1));
    EXPECT_FALSE(owner.over);
  }
  ASSERT_TRUE(BecomesTrue(owner.over));
  EXPECT_NE(std::this_thread::get_id(), owner.thread);
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, owner.result);
}

}  // namespace
}  // namespace cuheap::sim
