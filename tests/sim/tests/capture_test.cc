#include <atomic>
#include <thread>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class CaptureTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuStreamCreate(&side_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    block_ = Alloc(4096);
  }

  void Begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_CUDA(cuStreamBeginCapture(stream_, mode));
  }
  CUresult End() { return cuStreamEndCapture(stream_, &graph_); }
  int Value() {
    int value = 0;
    EXPECT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_CUDA(cuMemcpyDtoH(&value, block_, sizeof(value)));
    return value;
  }

  CUstream stream_ = nullptr;
  CUstream side_ = nullptr;
  CUevent event_ = nullptr;
  CUgraph graph_ = nullptr;
  CUdeviceptr block_ = 0;
};

void CountCall(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

TEST_F(CaptureTest, CapturedWorkRunsAtReplayOnly) {
  ASSERT_CUDA(cuMemsetD32(block_, 1, 1));
  int calls = 0;
  Begin();
  ASSERT_CUDA(cuMemsetD32Async(block_, 5, 1, stream_));
  ASSERT_CUDA(cuLaunchHostFunc(stream_, CountCall, &calls));
  ASSERT_CUDA(End());
  EXPECT_EQ(1, Value());
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph_, 0));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_EQ(5, Value());
  EXPECT_EQ(2, calls);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

TEST_F(CaptureTest, EventsForkAndJoinStreams) {
  Begin();
  ASSERT_CUDA(cuMemsetD32Async(block_, 1, 1, stream_));
  ASSERT_CUDA(cuEventRecord(event_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  ASSERT_CUDA(cuStreamIsCapturing(side_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
  ASSERT_CUDA(cuMemsetD32Async(block_ + 8, 2, 1, side_));
  ASSERT_CUDA(cuEventRecord(event_, side_));
  ASSERT_CUDA(cuMemsetD32Async(block_ + 16, 3, 1, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(stream_, event_, 0));
  ASSERT_CUDA(cuMemsetD32Async(block_ + 24, 4, 1, stream_));
  ASSERT_CUDA(End());
  std::size_t nodes = 0;
  std::size_t edges = 0;
  ASSERT_CUDA(cuGraphGetNodes(graph_, nullptr, &nodes));
  ASSERT_CUDA(cuGraphGetEdges_v2(graph_, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(4U, nodes);
  EXPECT_EQ(4U, edges);
  ASSERT_CUDA(cuStreamIsCapturing(side_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

TEST_F(CaptureTest, WorkThatDoesNotComeBackIsUnjoined) {
  Begin();
  ASSERT_CUDA(cuEventRecord(event_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  ASSERT_CUDA(cuMemsetD32Async(block_, 2, 1, side_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, End());
  EXPECT_EQ(nullptr, graph_);
}

TEST_F(CaptureTest, AllocationIsRefusedInGlobalModeAndInvalidates) {
  Begin();
  CUdeviceptr out = 3;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&out, 512));
  EXPECT_EQ(3U, out);
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(block_, 2, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
}

TEST_F(CaptureTest, ARelaxedThreadMayAllocateDuringACapture) {
  Begin();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(CU_STREAM_CAPTURE_MODE_GLOBAL, mode);
  CUdeviceptr out = 0;
  EXPECT_CUDA(cuMemAlloc(&out, 512));
  EXPECT_CUDA(cuMemFree(out));
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_CUDA(End());
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

TEST_F(CaptureTest, SynchronisingACapturedStreamInvalidatesIt) {
  Begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
  Begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
}

TEST_F(CaptureTest, ACapturedEventCannotBeQueried) {
  Begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  ASSERT_CUDA(cuEventRecord(event_, stream_));
  EXPECT_EQ(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
  EXPECT_EQ(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event_));
  ASSERT_CUDA(cuEventRecord(event_, stream_));
  EXPECT_CUDA(cuEventSynchronize(event_));
  EXPECT_CUDA(cuEventQuery(event_));
}

TEST_F(CaptureTest, TheLegacyStreamCollidesWithABlockingStream) {
  CUstream blocking = nullptr;
  ASSERT_CUDA(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  ASSERT_CUDA(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(block_, 1, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED));
}

TEST_F(CaptureTest, AskingTheLegacyStreamLeavesABlockingCaptureAsItIs) {
  CUstream blocking = nullptr;
  ASSERT_CUDA(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  ASSERT_CUDA(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status{};
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(nullptr, &status));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
            cuStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_CUDA(cuStreamEndCapture(blocking, &graph_));
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

TEST_F(CaptureTest, ExternalEventsNeedACapture) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuEventRecordWithFlags(event_, stream_, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_CUDA(cuEventRecord(event_, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(stream_, event_, CU_EVENT_WAIT_EXTERNAL));
}

TEST_F(CaptureTest, AnEndThatIsNotOneWritesNothing) {
  auto* const untouched = reinterpret_cast<CUgraph>(this);
  CUgraph graph = untouched;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(untouched, graph);
}

TEST_F(CaptureTest, TwoCapturesDoNotMerge) {
  Begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  ASSERT_CUDA(cuStreamBeginCapture(side_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuEventRecord(event_, side_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(stream_, event_, 0));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(side_, &graph_));
}

TEST_F(CaptureTest, EndNeedsTheOriginAndACapture) {
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, End());
  Begin();
  ASSERT_CUDA(cuEventRecord(event_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(side_, &graph_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, End());
}

TEST_F(CaptureTest, CapturedAllocationsLiveAsLongAsTheirGraphs) {
  Begin();
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAllocAsync(&out, 3 * kMiB, stream_));
  ASSERT_CUDA(cuMemsetD8Async(out, 9, 3 * kMiB, stream_));
  ASSERT_CUDA(cuMemFreeAsync(out, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(out, stream_)) << "twice";
  ASSERT_CUDA(End());
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_GRAPH));
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph_, 0));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  EXPECT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_EQ(4 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_GRAPH));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuDeviceGraphMemTrim(0));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_GRAPH));
}

TEST_F(CaptureTest, ReplayOnFreedMemoryIsAnIllegalAddress) {
  const CUdeviceptr gone = Alloc(2 * kMiB);
  Begin();
  ASSERT_CUDA(cuMemsetD8Async(gone, 1, 2 * kMiB, stream_));
  ASSERT_CUDA(End());
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph_, 0));
  ASSERT_CUDA(cuMemFree(gone));
  cuGraphLaunch(exec, stream_);  // may say so already
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream_));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize()) << "sticky";
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

TEST_F(CaptureTest, UserObjectsDieWithTheLastGraph) {
  std::atomic<int> destroyed{0};
  CUuserObject object = nullptr;
  ASSERT_CUDA(
      cuUserObjectCreate(&object, &destroyed, CountCall, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ASSERT_CUDA(cuGraphCreate(&graph_, 0));
  ASSERT_CUDA(cuGraphRetainUserObject(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph_, 0));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  EXPECT_EQ(0, destroyed);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  while (destroyed == 0) std::this_thread::yield();
  EXPECT_EQ(1, destroyed);
}

TEST_F(CaptureTest, UpdatesTakeNewParametersAndRefuseNewShapes) {
  Begin();
  ASSERT_CUDA(cuMemsetD32Async(block_, 1, 1, stream_));
  ASSERT_CUDA(End());
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph_, 0));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  Begin();
  ASSERT_CUDA(cuMemsetD32Async(block_, 2, 1, stream_));
  ASSERT_CUDA(End());
  CUgraphExecUpdateResultInfo info{};
  EXPECT_CUDA(cuGraphExecUpdate(exec, graph_, &info));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_EQ(2, Value());
  CUgraphNode extra = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&extra, graph_, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph_, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
}

}  // namespace
}  // namespace cuheap::sim
