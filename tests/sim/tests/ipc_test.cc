// Memory and events that one process makes and another one uses.
#include <cstring>

#include "tests/sim/tests/processes.h"

namespace cuheap::sim {
namespace {

using IpcTest = Processes;

TEST_F(IpcTest, AnIpcHandleShowsTheSameBytesAndOutlivesItsMaker) {
  Share();
  Pipe handles;
  Pipe opened;
  Pipe freed;
  const pid_t maker = Start([&] {
    CUdeviceptr large = 0;
    CUdeviceptr small = 0;
    CUipcMemHandle handle{};
    STEP(Open());
    STEP(cuMemAlloc(&large, 8 * kMiB) == CUDA_SUCCESS && cuMemAlloc(&small, 64) == CUDA_SUCCESS);
    STEP(cuMemAlloc(&small, 64) == CUDA_SUCCESS);
    STEP(cuMemsetD32(large, 11, 1) == CUDA_SUCCESS && cuMemsetD32(small, 22, 1) == CUDA_SUCCESS);
    STEP(cuIpcGetMemHandle(&handle, large) == CUDA_SUCCESS && handles.Send(handle));
    CUdeviceptr self = 0;
    STEP(cuIpcOpenMemHandle(&self, handle, 1) == CUDA_ERROR_INVALID_CONTEXT);
    STEP(cuIpcGetMemHandle(&handle, small) == CUDA_SUCCESS && handles.Send(handle));
    int word = 0;
    STEP(opened.Receive(&word));
    STEP(cuMemFree(large) == CUDA_SUCCESS);
    return freed.Send(1);
  });
  const pid_t taker = Start([&] {
    CUipcMemHandle first{};
    CUipcMemHandle second{};
    CUdeviceptr large = 0;
    CUdeviceptr small = 0;
    STEP(Open() && handles.Receive(&first) && handles.Receive(&second));
    STEP(cuIpcOpenMemHandle(&large, first, 1) == CUDA_SUCCESS);
    STEP(cuIpcOpenMemHandle(&small, second, 1) == CUDA_SUCCESS);
    int word = 0;
    STEP(opened.Send(1) && freed.Receive(&word));
    int value = 0;
    STEP(cuMemcpyDtoH(&value, large, 4) == CUDA_SUCCESS && value == 11);
    STEP(cuMemcpyDtoH(&value, small, 4) == CUDA_SUCCESS && value == 22);
    STEP(cuIpcCloseMemHandle(large) == CUDA_SUCCESS && cuIpcCloseMemHandle(small) == CUDA_SUCCESS);
    return cuIpcCloseMemHandle(large) == CUDA_ERROR_INVALID_VALUE;
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
}

TEST_F(IpcTest, AHandleIsMadeOfTheBaseOfLinearMemoryOnly) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              CUdeviceptr linear = 0;
              CUdeviceptr pooled = 0;
              STEP(cuMemAlloc(&linear, kMiB) == CUDA_SUCCESS);
              STEP(cuMemAllocAsync(&pooled, kMiB, nullptr) == CUDA_SUCCESS);
              CUipcMemHandle handle{};
              STEP(cuIpcGetMemHandle(&handle, linear + 8) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuIpcGetMemHandle(&handle, pooled) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuIpcGetMemHandle(nullptr, linear) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuIpcGetMemHandle(&handle, linear) == CUDA_SUCCESS);
              CUdeviceptr small = 0;
              CUdeviceptr again = 0;
              CUipcMemHandle next{};
              STEP(cuMemAlloc(&small, 1024) == CUDA_SUCCESS);
              STEP(cuIpcGetMemHandle(&handle, small) == CUDA_SUCCESS);
              STEP(cuMemFree(small) == CUDA_SUCCESS);
              STEP(cuMemAlloc(&again, 1024) == CUDA_SUCCESS && again == small);
              STEP(cuIpcGetMemHandle(&next, again) == CUDA_SUCCESS);
              STEP(std::memcmp(&handle, &next, sizeof next) != 0);  // of the new memory
              CUdeviceptr opened = 5;
              CUipcMemHandle garbage{};
              STEP(cuIpcOpenMemHandle(&opened, garbage, 1) == CUDA_ERROR_INVALID_HANDLE);
              STEP(cuIpcOpenMemHandle(&opened, handle, 0) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuIpcCloseMemHandle(linear) == CUDA_ERROR_INVALID_VALUE);
              return opened == 5;
            })));
}

TEST_F(IpcTest, OpeningAgainCountsAndOnlyOneContextOfADeviceMayDoIt) {
  Share();
  Pipe handles;
  Pipe done;
  const pid_t maker = Start([&] {
    CUdeviceptr block = 0;
    CUipcMemHandle handle{};
    STEP(Open() && cuMemAlloc(&block, 4 * kMiB) == CUDA_SUCCESS);
    STEP(cuIpcGetMemHandle(&handle, block) == CUDA_SUCCESS && handles.Send(handle));
    int word = 0;
    return done.Receive(&word);
  });
  const pid_t taker = Start([&] {
    CUipcMemHandle handle{};
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    STEP(Open() && handles.Receive(&handle));
    STEP(cuIpcOpenMemHandle(&first, handle, 1) == CUDA_SUCCESS);
    STEP(cuIpcOpenMemHandle(&second, handle, 1) == CUDA_SUCCESS && first == second);
    CUcontext other = nullptr;
    STEP(cuCtxCreate(&other, nullptr, 0, 0) == CUDA_SUCCESS);
    STEP(cuIpcOpenMemHandle(&second, handle, 1) == CUDA_ERROR_INVALID_CONTEXT);
    STEP(cuCtxDestroy(other) == CUDA_SUCCESS);
    STEP(cuheap_sim_used(0, CUHEAP_SIM_VMM) == 0);
    STEP(cuMemFree(first) == CUDA_ERROR_INVALID_VALUE);
    STEP(cuIpcCloseMemHandle(first) == CUDA_SUCCESS);
    STEP(cuMemsetD8(first, 1, 4 * kMiB) == CUDA_SUCCESS);
    STEP(cuIpcCloseMemHandle(first) == CUDA_SUCCESS);
    STEP(cuIpcCloseMemHandle(first) == CUDA_ERROR_INVALID_VALUE);
    return done.Send(1);
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
}

CUevent NewSharedEvent() {
  CUevent event = nullptr;
  EXPECT_CUDA(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  return event;
}

TEST_F(IpcTest, OnlyEventsMadeForItHaveHandles) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              CUevent plain = nullptr;
              CUipcEventHandle handle{};
              STEP(cuEventCreate(&plain, CU_EVENT_INTERPROCESS) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
              STEP(cuIpcGetEventHandle(&handle, plain) == CUDA_ERROR_INVALID_HANDLE);
              CUevent opened = nullptr;
              STEP(cuIpcOpenEventHandle(&opened, handle) == CUDA_ERROR_INVALID_HANDLE);
              CUevent shared = NewSharedEvent();
              STEP(cuIpcGetEventHandle(&handle, shared) == CUDA_SUCCESS);
              STEP(cuIpcOpenEventHandle(&opened, handle) == CUDA_ERROR_INVALID_CONTEXT);
              STEP(cuEventRecord(shared, nullptr) == CUDA_SUCCESS);
              STEP(cuEventSynchronize(shared) == CUDA_SUCCESS);
              STEP(cuEventQuery(shared) == CUDA_SUCCESS && opened == nullptr);
              return cuEventDestroy(shared) == CUDA_SUCCESS;
            })));
}

// The manual clock holds the maker's work back until the test lets it go.
TEST_F(IpcTest, AnEventOrdersTheWorkOfTwoProcesses) {
  Share();
  setenv("CUHEAP_SIM_CLOCK", "manual", 1);
  Pipe to_taker;
  Pipe to_maker;
  const pid_t maker = Start([&] {
    STEP(Open());
    CUevent event = NewSharedEvent();
    CUstream stream = nullptr;
    CUdeviceptr block = 0;
    CUipcEventHandle event_handle{};
    CUipcMemHandle memory{};
    STEP(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    STEP(cuMemAlloc(&block, 2 * kMiB) == CUDA_SUCCESS);
    STEP(cuMemsetD8Async(block, 42, 16, stream) == CUDA_SUCCESS);
    STEP(cuEventRecord(event, stream) == CUDA_SUCCESS);
    STEP(cuIpcGetEventHandle(&event_handle, event) == CUDA_SUCCESS);
    STEP(cuIpcGetMemHandle(&memory, block) == CUDA_SUCCESS);
    STEP(to_taker.Send(event_handle) && to_taker.Send(memory));
    int word = 0;
    STEP(to_maker.Receive(&word));
    STEP(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    return to_maker.Receive(&word);
  });
  const pid_t taker = Start([&] {
    STEP(Open());
    CUipcEventHandle event_handle{};
    CUipcMemHandle memory{};
    CUevent event = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr block = 0;
    STEP(to_taker.Receive(&event_handle) && to_taker.Receive(&memory));
    STEP(cuIpcOpenEventHandle(&event, event_handle) == CUDA_SUCCESS);
    STEP(cuIpcOpenMemHandle(&block, memory, 1) == CUDA_SUCCESS);
    STEP(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    STEP(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    STEP(cuStreamWaitEvent(stream, event, 0) == CUDA_SUCCESS);
    static unsigned char bytes[16];
    CUdeviceptr copy = 0;
    STEP(cuMemAlloc(&copy, 16) == CUDA_SUCCESS);
    STEP(cuMemcpyDtoDAsync(copy, block, 16, stream) == CUDA_SUCCESS);
    STEP(cuheap_sim_run_until_idle() == 0 && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    STEP(to_maker.Send(1));
    STEP(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    STEP(cuEventSynchronize(event) == CUDA_SUCCESS);
    STEP(cuMemcpyDtoH(bytes, copy, 16) == CUDA_SUCCESS && bytes[15] == 42);
    STEP(cuIpcCloseMemHandle(block) == CUDA_SUCCESS && cuEventDestroy(event) == CUDA_SUCCESS);
    return to_maker.Send(1);
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
  unsetenv("CUHEAP_SIM_CLOCK");
}

TEST_F(IpcTest, ANodeOfAGraphRecordsForTheOtherProcess) {
  for (const char* clock : {"eager", "manual"}) {
    Share();
    setenv("CUHEAP_SIM_CLOCK", clock, 1);
    Pipe to_taker;
    Pipe to_maker;
    const pid_t maker = Start([&] {
      STEP(Open());
      CUevent event = NewSharedEvent();
      CUipcEventHandle handle{};
      CUstream stream = nullptr;
      CUgraph graph = nullptr;
      CUgraphNode node = nullptr;
      CUgraphExec exec = nullptr;
      void* flag = nullptr;
      int word = 0;
      STEP(cuMemHostAlloc(&flag, 4096, 0) == CUDA_SUCCESS);
      const auto address = reinterpret_cast<CUdeviceptr>(flag);
      STEP(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
      STEP(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
      STEP(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
      STEP(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event) == CUDA_SUCCESS);
      STEP(cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
      STEP(cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
      STEP(cuIpcGetEventHandle(&handle, event) == CUDA_SUCCESS && to_taker.Send(handle));
      STEP(to_maker.Receive(&word));
      __atomic_store_n(static_cast<unsigned*>(flag), 1U, __ATOMIC_SEQ_CST);
      STEP(cuStreamSynchronize(stream) == CUDA_SUCCESS);
      return to_taker.Send(1) && to_maker.Receive(&word);
    });
    const pid_t taker = Start([&] {
      CUipcEventHandle handle{};
      CUevent event = nullptr;
      int word = 0;
      STEP(Open() && to_taker.Receive(&handle));
      STEP(cuIpcOpenEventHandle(&event, handle) == CUDA_SUCCESS);
      STEP(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
      STEP(to_maker.Send(1) && to_taker.Receive(&word));
      STEP(cuEventQuery(event) == CUDA_SUCCESS);
      return to_maker.Send(1);
    });
    EXPECT_EQ(0, StatusOf(taker)) << clock;
    EXPECT_EQ(0, StatusOf(maker)) << clock;
    unsetenv("CUHEAP_SIM_CLOCK");
  }
}

TEST_F(IpcTest, WhoWaitsForAKilledProcessGoesOn) {
  Share();
  setenv("CUHEAP_SIM_CLOCK", "manual", 1);
  Pipe handles;
  const pid_t victim = Start([&] {
    STEP(Open());
    CUevent event = NewSharedEvent();
    CUstream stream = nullptr;
    CUipcEventHandle handle{};
    STEP(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    STEP(cuEventRecord(event, stream) == CUDA_SUCCESS);
    STEP(cuIpcGetEventHandle(&handle, event) == CUDA_SUCCESS && handles.Send(handle));
    pause();
    return true;
  });
  const pid_t taker = Start([&] {
    CUipcEventHandle handle{};
    CUevent event = nullptr;
    STEP(Open() && handles.Receive(&handle));
    STEP(cuIpcOpenEventHandle(&event, handle) == CUDA_SUCCESS);
    STEP(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    kill(victim, SIGKILL);
    return cuEventSynchronize(event) == CUDA_SUCCESS;
  });
  EXPECT_TRUE(WIFSIGNALED(StatusOf(victim)));
  EXPECT_EQ(0, StatusOf(taker));
  unsetenv("CUHEAP_SIM_CLOCK");
}

}  // namespace
}  // namespace cuheap::sim
