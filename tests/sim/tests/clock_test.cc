// The manual clock: what is queued is done when the test says so, or when somebody waits for it.
#include <cstring>

#include "tests/sim/tests/queued_work.h"

namespace cuheap::sim {
namespace {

class ClockTest : public QueuedWork {
 protected:
  static unsigned ValueAt(const unsigned* host) {
    return *static_cast<const volatile unsigned*>(host);
  }
  static unsigned* Pinned() {
    void* host = nullptr;
    EXPECT_CUDA(cuMemHostAlloc(&host, 4096, 0));
    return static_cast<unsigned*>(host);
  }
  static void Set(CUstream stream, const unsigned* host, unsigned value) {
    EXPECT_CUDA(cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(host), value, 1, stream));
  }
};

TEST_F(ClockTest, WorkWaitsUntilItsStreamIsAdvanced) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  Set(stream, host, 1);
  Set(stream, host, 2);
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  EXPECT_EQ(0U, ValueAt(host));
  EXPECT_EQ(1, cuheap_sim_advance_one(stream));
  EXPECT_EQ(1U, ValueAt(host));
  EXPECT_EQ(1, cuheap_sim_advance_stream(stream));
  EXPECT_EQ(2U, ValueAt(host));
  EXPECT_CUDA(cuStreamQuery(stream));
  EXPECT_EQ(0, cuheap_sim_advance_one(stream));
}

struct Counts {
  unsigned* host;
  int* released;
};

cuheap_sim_body Adder(unsigned* host, int* released, int is_collective) {
  return {[](void* data) { ++*static_cast<Counts*>(data)->host; },
          [](void* data) {
            ++*static_cast<Counts*>(data)->released;
            delete static_cast<Counts*>(data);
          },
          new Counts{host, released}, is_collective};
}

TEST_F(ClockTest, TheBodyOfAKernelRunsInItsTurnAndIsReleasedOnce) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  int released = 0;
  const cuheap_sim_range range{reinterpret_cast<std::uint64_t>(host), sizeof *host, 1};
  Set(stream, host, 5);
  const cuheap_sim_body adder = Adder(host, &released, 0);
  EXPECT_EQ(0, cuheap_sim_launch_body(stream, "adder", &range, 1, &adder));
  EXPECT_EQ(0U, ValueAt(host));
  EXPECT_EQ(0, released);
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(6U, ValueAt(host));
  EXPECT_EQ(1, released);
  const CUdeviceptr gone = Alloc(4096);
  EXPECT_CUDA(cuMemFree(gone));
  const cuheap_sim_range nowhere{gone, 512, 1};
  const cuheap_sim_body late = Adder(host, &released, 0);
  EXPECT_NE(0, cuheap_sim_launch_body(stream, "adder", &nowhere, 1, &late));
  EXPECT_EQ(2, released);
  EXPECT_EQ(6U, ValueAt(host));
}

TEST_F(ClockTest, AWaitDoesWhatItWaitsForAndNoMore) {
  const CUstream mine = NewStream();
  const CUstream other = NewStream();
  unsigned* host = Pinned();
  Set(other, host, 7);
  Set(mine, host + 1, 8);
  EXPECT_CUDA(cuStreamSynchronize(mine));
  EXPECT_EQ(8U, ValueAt(host + 1));
  EXPECT_EQ(0U, ValueAt(host));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(7U, ValueAt(host));
}

TEST_F(ClockTest, AnEventHoldsAnotherStreamBack) {
  const CUstream first = NewStream();
  const CUstream second = NewStream();
  unsigned* host = Pinned();
  Set(first, host, 1);
  const CUevent event = Record(first);
  Wait(second, event);
  Set(second, host, 2);
  EXPECT_EQ(0, cuheap_sim_advance_stream(second)) << "held back";
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT_CUDA(cuStreamSynchronize(second));
  EXPECT_EQ(2U, ValueAt(host));
  EXPECT_CUDA(cuEventQuery(event));
}

TEST_F(ClockTest, AnEventMeansItsRecordAtTheTimeOfTheWait) {
  const CUstream first = NewStream();
  const CUstream second = NewStream();
  const CUevent event = Record(first);
  Wait(second, event);
  Set(first, Pinned(), 1);
  EXPECT_CUDA(cuEventRecord(event, first));
  EXPECT_EQ(1, cuheap_sim_advance_one(first));
  EXPECT_EQ(1, cuheap_sim_advance_stream(second)) << "waits for the first record only";
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event)) << "the second one";
}

TEST_F(ClockTest, ANodeThatWaitsForAnEventNeedsNoMoreThanThatEvent) {
  const CUstream launching = NewStream();
  const CUstream needed = NewStream();
  const CUstream other = NewStream();
  unsigned* host = Pinned();
  Set(needed, host, 1);
  const CUevent event = Record(needed);
  Set(needed, host + 1, 2);
  Set(other, host + 2, 3);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr;
  EXPECT_CUDA(cuGraphCreate(&graph, 0));
  EXPECT_CUDA(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cuGraphLaunch(exec, launching));
  EXPECT_EQ(0, cuheap_sim_advance_stream(launching)) << "held back";
  EXPECT_CUDA(cuStreamSynchronize(launching));
  EXPECT_EQ(1U, ValueAt(host));
  EXPECT_EQ(0U, ValueAt(host + 1)) << "behind the event";
  EXPECT_EQ(0U, ValueAt(host + 2));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph));
}

TEST_F(ClockTest, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const CUstream blocking = NewStream(CU_STREAM_DEFAULT);
  const CUstream free = NewStream(CU_STREAM_NON_BLOCKING);
  unsigned* host = Pinned();
  Set(blocking, host, 1);
  Set(free, host + 1, 1);
  Set(CU_STREAM_LEGACY, host + 2, 1);
  Set(blocking, host + 3, 1);
  EXPECT_EQ(0, cuheap_sim_advance_stream(CU_STREAM_LEGACY));
  EXPECT_EQ(1, cuheap_sim_advance_one(blocking));
  EXPECT_EQ(0, cuheap_sim_advance_one(blocking)) << "waits for the legacy stream";
  EXPECT_EQ(1, cuheap_sim_advance_stream(CU_STREAM_LEGACY));
  EXPECT_EQ(1, cuheap_sim_advance_stream(blocking));
  EXPECT_EQ(0U, ValueAt(host + 1)) << "a non-blocking stream takes no part";
}

TEST_F(ClockTest, AHostFunctionRunsInItsPlace) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  Set(stream, host, 5);
  unsigned seen[2] = {};
  struct Look {
    unsigned* host;
    unsigned* seen;
  } look{host, seen};
  EXPECT_CUDA(cuLaunchHostFunc(
      stream,
      [](void* data) {
        auto* at = static_cast<Look*>(data);
        at->seen[0] = *at->host;
        at->seen[1] = 1;
      },
      &look));
  EXPECT_EQ(0U, seen[1]);
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(5U, seen[0]);
}

TEST_F(ClockTest, AfterAnErrorCallbacksAreToldAndHostFunctionsAreLeftOut) {
  const CUstream stream = NewStream();
  CUresult told = CUDA_SUCCESS;
  bool called = false;
  EXPECT_CUDA(cuStreamAddCallback(
      stream, [](CUstream, CUresult result, void* data) { *static_cast<CUresult*>(data) = result; },
      &told, 0));
  EXPECT_CUDA(cuLaunchHostFunc(
      stream, [](void* data) { *static_cast<bool*>(data) = true; }, &called));
  CUcontext other = nullptr;
  CUdeviceptr theirs = 0;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 1));
  ASSERT_CUDA(cuCtxSetCurrent(other));
  ASSERT_CUDA(cuMemAlloc(&theirs, 4096));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  const cuheap_sim_range range{theirs, 512, 1};
  const CUstream faulty = NewStream();
  cuheap_sim_launch(faulty, "kernel", &range, 1);
  cuheap_sim_advance_stream(faulty);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(faulty));
  cuheap_sim_run_until_idle();
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, told);
  EXPECT_FALSE(called);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(1));
}

TEST_F(ClockTest, PageableMemoryIsTakenAtTheCall) {
  const CUstream stream = NewStream();
  const CUdeviceptr block = Alloc(4096);
  unsigned value = 42;
  EXPECT_CUDA(cuMemcpyHtoDAsync(block, &value, sizeof value, stream));
  value = 0;
  unsigned back = 0;
  EXPECT_CUDA(cuMemcpyDtoHAsync(&back, block, sizeof back, stream));
  EXPECT_EQ(42U, back) << "and given at the call";
}

TEST_F(ClockTest, FreeingWaitsForTheDevice) {
  const CUstream stream = NewStream();
  const CUdeviceptr block = Alloc(4096);
  Write(stream, block);
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuStreamQuery(stream));
  EXPECT_EQ(0U, cuheap_sim_races()) << LastRace();
}

TEST_F(ClockTest, ADestroyedStreamsWorkIsStillDone) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  Set(stream, host, 3);
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_EQ(0U, ValueAt(host));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(3U, ValueAt(host));
}

TEST_F(ClockTest, AGraphIsDoneInItsPlace) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  Set(stream, host, 6);
  EXPECT_CUDA(cuStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cuGraphLaunch(exec, stream));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_EQ(0U, ValueAt(host));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(6U, ValueAt(host));
}

TEST_F(ClockTest, TimesOfEventsThatAreNotReachedAreNotReady) {
  const CUstream stream = NewStream();
  CUevent start = nullptr;
  CUevent end = nullptr;
  EXPECT_CUDA(cuEventCreate(&start, 0));
  EXPECT_CUDA(cuEventCreate(&end, 0));
  float milliseconds = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_CUDA(cuEventRecord(start, stream));
  EXPECT_CUDA(cuEventRecord(end, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_CUDA(cuEventSynchronize(end));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
}

TEST_F(ClockTest, CopiesBetweenHostMemoryAreDoneAtTheCall) {
  const CUstream stream = NewStream();
  unsigned* host = Pinned();
  host[0] = 0;
  host[1] = 7;
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  EXPECT_CUDA(cuMemcpyAsync(address, address + sizeof(unsigned), sizeof(unsigned), stream));
  EXPECT_EQ(7U, ValueAt(host));
  unsigned pageable = 9;
  const auto from = reinterpret_cast<CUdeviceptr>(&pageable);
  EXPECT_CUDA(cuMemcpyAsync(address, from, sizeof pageable, stream));
  EXPECT_EQ(9U, ValueAt(host));
}

TEST_F(ClockTest, SynchronousCopiesBetweenDeviceMemoryAreLeftInTheirStream) {
  const CUdeviceptr block = Alloc(8192);
  EXPECT_CUDA(cuMemcpyDtoD(block, block + 4096, 4096));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
}

}  // namespace
}  // namespace cuheap::sim
