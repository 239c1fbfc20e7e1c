#include <future>
#include <thread>

#include "tests/sim/tests/machine.h"

// Deprecated functions are exported and called, so they are tested.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cuheap::sim {
namespace {

using ContextTest = Machine;

TEST_F(ContextTest, AThreadWithoutContextIsToldSoAndOutputsStayUntouched) {
  std::thread([] {
    CUdeviceptr block = 9;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&block, 8));
    EXPECT_EQ(9U, block);
    CUstream stream = reinterpret_cast<CUstream>(8);
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    EXPECT_EQ(reinterpret_cast<CUstream>(8), stream);
    CUcontext current = nullptr;
    EXPECT_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(nullptr, current);
  }).join();
}

TEST_F(ContextTest, RetainingAPrimaryContextTwiceMakesOneContext) {
  const std::uint64_t before = cuheap_sim_contexts_created();
  CUcontext again = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(context_, again);
  EXPECT_EQ(before, cuheap_sim_contexts_created());
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  int active = 0;
  unsigned flags = 0;
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(1, active);
}

TEST_F(ContextTest, TheStackPushesAndPops) {
  CUcontext own = nullptr;
  ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 1));
  CUdevice device = -1;
  EXPECT_CUDA(cuCtxGetDevice(&device));
  EXPECT_EQ(1, device);
  CUcontext popped = nullptr;
  EXPECT_CUDA(cuCtxPopCurrent(&popped));
  EXPECT_EQ(own, popped);
  EXPECT_CUDA(cuCtxGetDevice(&device));
  EXPECT_EQ(0, device);
  EXPECT_CUDA(cuCtxDestroy(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(own));
  EXPECT_CUDA(cuCtxGetDevice(&device));
  EXPECT_EQ(0, device);
}

TEST_F(ContextTest, ADestroyedContextStaysCurrentToOtherThreads) {
  CUcontext own = nullptr;
  ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  std::promise<void> current;
  std::promise<void> destroyed;
  std::thread other([&] {
    EXPECT_CUDA(cuCtxSetCurrent(own));
    current.set_value();
    destroyed.get_future().wait();
    CUdeviceptr block = 3;
    EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&block, 8));
    EXPECT_EQ(3U, block);
    CUcontext popped = nullptr;
    EXPECT_CUDA(cuCtxPopCurrent(&popped));
    EXPECT_EQ(own, popped);
  });
  current.get_future().wait();
  EXPECT_CUDA(cuCtxDestroy(own));
  destroyed.set_value();
  other.join();
}

TEST_F(ContextTest, AnUsageCountKeepsAContextUntilItIsDetachedAsOften) {
  CUcontext own = nullptr;
  ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  CUcontext attached = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&attached, 1));
  EXPECT_CUDA(cuCtxAttach(&attached, 0));
  EXPECT_EQ(own, attached);
  EXPECT_CUDA(cuCtxDetach(own));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuCtxDetach(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(own));
  CUcontext current = nullptr;
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(context_, current);
}

TEST_F(ContextTest, CreationChecksItsParameters) {
  CUcontext made = reinterpret_cast<CUcontext>(8);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0));
  CUexecAffinityParam affinity{};
  CUctxCreateParams limited{&affinity, 1, nullptr};
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, cuCtxCreate(&made, &limited, 0, 0));
  CUctxCigParam graphics{};
  CUctxCreateParams shared{nullptr, 0, &graphics};
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate(&made, &shared, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&made, nullptr, 0, 9));
  EXPECT_EQ(reinterpret_cast<CUcontext>(8), made);
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
            cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
}

TEST_F(ContextTest, AResetKeepsTheRetainsAndTheHandleAndEndsTheGeneration) {
  const CUdeviceptr block = Alloc(kMiB);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  ASSERT_CUDA(cuEventCreate(&event, 0));
  unsigned long long first_id = 0;
  ASSERT_CUDA(cuCtxGetId(context_, &first_id));
  const std::uint64_t created = cuheap_sim_contexts_created_on(0);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  CUdeviceptr none = 4;
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&none, 8));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_EQ(4U, none);
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
  CUcontext again = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(context_, again);
  unsigned long long second_id = 0;
  EXPECT_CUDA(cuCtxGetId(context_, &second_id));
  EXPECT_NE(first_id, second_id);
  EXPECT_EQ(created + 1, cuheap_sim_contexts_created_on(0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(block));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(ContextTest, TheLastReleaseEndsAPrimaryContextAndOneMoreIsRefused) {
  CUcontext primary = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&primary, 1));
  ASSERT_CUDA(cuCtxPushCurrent(primary));
  Alloc(kMiB);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(1));
  EXPECT_EQ(0U, cuheap_sim_used(1, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(0U, cuheap_sim_used(1, CUHEAP_SIM_CONTEXT));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
  EXPECT_CUDA(cuCtxPopCurrent(nullptr));
}

TEST_F(ContextTest, AnEventIsRecordedInItsOwnContextAndWaitedForAnywhere) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUcontext other = nullptr;
  ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 1));
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, stream));
  EXPECT_CUDA(cuStreamWaitEvent(stream, event, 0));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, stream));
  EXPECT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(cuEventRecord(event, nullptr));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_CUDA(cuEventDestroy(event));
}

TEST_F(ContextTest, SharedMemoryBanksAreFourBytesWide) {
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  EXPECT_CUDA(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  EXPECT_CUDA(cuCtxGetSharedMemConfig(&config));
  EXPECT_EQ(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, config);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(3)));
}

TEST_F(ContextTest, ResetFreesWhatTheContextHeld) {
  Alloc(64 * kMiB);
  Alloc(100);
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
}

TEST_F(ContextTest, StreamIdsNeverRepeatAlthoughHandlesDo) {
  CUstream first = nullptr;
  unsigned long long first_id = 0;
  ASSERT_CUDA(cuStreamCreate(&first, 0));
  ASSERT_CUDA(cuStreamGetId(first, &first_id));
  ASSERT_CUDA(cuStreamDestroy(first));
  CUstream second = nullptr;
  unsigned long long second_id = 0;
  ASSERT_CUDA(cuStreamCreate(&second, 0));
  ASSERT_CUDA(cuStreamGetId(second, &second_id));
  EXPECT_EQ(first, second);
  EXPECT_NE(first_id, second_id);
  EXPECT_CUDA(cuStreamDestroy(second));
}

TEST_F(ContextTest, StaleAndRandomHandlesAreRefused) {
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(reinterpret_cast<CUstream>(0x1234)));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(reinterpret_cast<CUevent>(this)));
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, 0));
  EXPECT_CUDA(cuEventDestroy(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
}

TEST_F(ContextTest, ElapsedTimeNeedsTwoTimedAndRecordedEvents) {
  CUevent start = nullptr;
  CUevent end = nullptr;
  ASSERT_CUDA(cuEventCreate(&start, 0));
  ASSERT_CUDA(cuEventCreate(&end, 0));
  float milliseconds = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
  ASSERT_CUDA(cuEventRecord(start, nullptr));
  ASSERT_CUDA(cuEventRecord(end, nullptr));
  ASSERT_CUDA(cuEventSynchronize(end));
  ASSERT_CUDA(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_CUDA(cuEventDestroy(start));
  EXPECT_CUDA(cuEventDestroy(end));
}

TEST_F(ContextTest, LaunchesThatADeviceWouldRefuseAreRefused) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, "image"));
  ASSERT_CUDA(cuModuleGetFunction(&function, module, "kernel"));
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, nullptr, nullptr, nullptr);
  };
  EXPECT_CUDA(launch(1, 1024, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(0, 32, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(1, 1025, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(1, 32, 100'000));
  EXPECT_CUDA(
      cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100'000));
  EXPECT_CUDA(launch(1, 32, 100'000));
  EXPECT_EQ(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            cuLaunchCooperativeKernel(function, 1 << 20, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(1, 32, 0));
}

TEST_F(ContextTest, LimitsThatItDoesNotHaveAreRefused) {
  size_t value = 7;
  constexpr auto kUnsupported = CUDA_ERROR_UNSUPPORTED_LIMIT;
  EXPECT_EQ(kUnsupported, cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
  EXPECT_EQ(kUnsupported, cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  EXPECT_EQ(kUnsupported, cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1));
  EXPECT_EQ(kUnsupported, cuCtxSetLimit(CU_LIMIT_CIG_ENABLED, 1));
  EXPECT_EQ(kUnsupported, cuCtxSetLimit(CU_LIMIT_MAX, 1));
  EXPECT_EQ(7U, value);
  EXPECT_CUDA(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
  EXPECT_EQ(0U, value);
  EXPECT_CUDA(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  EXPECT_CUDA(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(4096U, value);
}

TEST_F(ContextTest, ThePreferredCacheIsKept) {
  CUfunc_cache config{};
  EXPECT_CUDA(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  EXPECT_CUDA(cuCtxGetCacheConfig(&config));
  EXPECT_EQ(CU_FUNC_CACHE_PREFER_L1, config);
}

TEST_F(ContextTest, ModulesGoWithTheirContextAndLibrariesStay) {
  CUlibrary library = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUcontext own = nullptr;
  ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, "image"));
  ASSERT_CUDA(cuModuleGetFunction(&function, module, "kernel"));
  ASSERT_CUDA(cuCtxDestroy(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "kernel"));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  CUkernel kernel = nullptr;
  EXPECT_CUDA(cuLibraryGetKernel(&kernel, library, "kernel"));
  EXPECT_CUDA(cuLibraryUnload(library));
}

}  // namespace
}  // namespace cuheap::sim
