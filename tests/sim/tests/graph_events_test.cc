// Events that nodes of graphs record and wait for: under every clock they take effect at their
// node, while the rest of the launch is held back by a value that the test writes.
#include <unistd.h>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphEventsTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_CUDA(cuStreamCreate(&side_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuEventCreate(&event_, CU_EVENT_DEFAULT));
    void* host = nullptr;
    ASSERT_CUDA(cuMemHostAlloc(&host, 4096, 0));
    words_ = static_cast<unsigned*>(host);
    for (int at = 0; at < 1024; ++at) words_[at] = 0;
  }
  CUdeviceptr Word(int at) const { return reinterpret_cast<CUdeviceptr>(words_ + at); }
  unsigned Read(int at) const { return __atomic_load_n(words_ + at, __ATOMIC_SEQ_CST); }
  // The first word holds back what waits for it.
  void LetGo() { __atomic_store_n(words_, 1U, __ATOMIC_SEQ_CST); }
  void Hold(CUstream stream) const {
    EXPECT_CUDA(cuStreamWaitValue32(stream, Word(0), 1, CU_STREAM_WAIT_VALUE_EQ));
  }
  // Until the word is set or every clock had time enough.
  bool IsSet(int at) const {
    for (int i = 0; i < 1000 && Read(at) == 0; ++i) cuheap_sim_run_until_idle();
    return Read(at) != 0;
  }

  CUgraphNode Set(CUgraph graph, int at, std::vector<CUgraphNode> after = {}) const {
    return AddSet(graph, Word(at), 1, std::move(after));
  }
  CUgraphNode Hold(CUgraph graph, std::vector<CUgraphNode> after = {}) const {
    CUstreamBatchMemOpParams wait{};
    wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    wait.waitValue.address = Word(0);
    wait.waitValue.value = 1;
    wait.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS wanted{context_, 1, &wait, 0};
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, after.data(), after.size(), &wanted));
    return node;
  }
  static CUgraphNode Record(CUgraph graph, CUevent event, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddEventRecordNode(&node, graph, after.data(), after.size(), event));
    return node;
  }
  static CUgraphNode Wait(CUgraph graph, CUevent event, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddEventWaitNode(&node, graph, after.data(), after.size(), event));
    return node;
  }
  static CUgraphNode AddChild(CUgraph graph, CUgraph child) {
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    return node;
  }
  void Launch(CUgraph graph) { ASSERT_CUDA(cuGraphLaunch(Instantiate(graph), stream_)); }
  // A launch set word 1, recorded the event and is held back before it sets word 2.
  void ExpectReachedInTheMiddle() {
    EXPECT_CUDA(cuEventSynchronize(event_));
    EXPECT_EQ(1U, Read(1));
    EXPECT_CUDA(cuEventQuery(event_));
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
    EXPECT_EQ(0U, Read(2));
    LetGo();
    EXPECT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_EQ(1U, Read(2));
  }

  CUstream side_ = nullptr;
  CUevent event_ = nullptr;
  unsigned* words_ = nullptr;
};

// The first of the file: nothing has waited yet, and under the eager clock nothing is queued.
TEST_F(GraphEventsTest, EachLaunchRecordsAnew) {
  CUevent end = nullptr;
  ASSERT_CUDA(cuEventCreate(&end, CU_EVENT_DEFAULT));
  Record(graph_, end, {Set(graph_, 1, {Record(graph_, event_)})});
  const CUgraphExec exec = Instantiate(graph_);
  float milliseconds = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, event_, end));
  Run(exec);
  EXPECT_CUDA(cuEventQuery(event_));
  EXPECT_CUDA(cuEventQuery(end));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, event_, end));
  EXPECT_LE(0.0F, milliseconds);
  usleep(2000);
  Run(exec);
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, event_, end));
  EXPECT_LE(0.0F, milliseconds);
  EXPECT_GT(1000.0F, milliseconds);
  ASSERT_CUDA(cuEventRecord(end, stream_));
  EXPECT_CUDA(cuEventSynchronize(end));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, event_, end));
  EXPECT_LE(0.0F, milliseconds);
}

TEST_F(GraphEventsTest, ARecordIsReachedInTheMiddleOfItsLaunch) {
  Set(graph_, 2, {Hold(graph_, {Record(graph_, event_, {Set(graph_, 1)})})});
  Launch(graph_);
  ExpectReachedInTheMiddle();
}

TEST_F(GraphEventsTest, ARecordBehindWhatHoldsTheLaunchIsNotReached) {
  Set(graph_, 1);
  Record(graph_, event_, {Hold(graph_)});
  Launch(graph_);
  EXPECT_TRUE(IsSet(1));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event_));
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  ASSERT_CUDA(cuMemsetD32Async(Word(2), 1, 1, side_));
  cuheap_sim_run_until_idle();
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(side_));
  EXPECT_EQ(0U, Read(2));
  LetGo();
  EXPECT_CUDA(cuEventSynchronize(event_));
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_EQ(1U, Read(2));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(GraphEventsTest, AStreamThatWaitsForARecordGoesOnBeforeTheLaunchEnds) {
  Hold(graph_, {Record(graph_, event_, {Set(graph_, 1)})});
  Launch(graph_);
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  ASSERT_CUDA(cuMemcpyDtoDAsync(Word(3), Word(1), 4, side_));
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_EQ(1U, Read(3));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  LetGo();
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(GraphEventsTest, AWaitHoldsBackWhatIsBehindItUntilAnotherStreamIsThere) {
  Hold(side_);
  ASSERT_CUDA(cuMemsetD32Async(Word(1), 1, 1, side_));
  ASSERT_CUDA(cuEventRecord(event_, side_));
  Set(graph_, 2, {Wait(graph_, event_, {Set(graph_, 4)})});
  Set(graph_, 5);
  Launch(graph_);
  EXPECT_TRUE(IsSet(4) && IsSet(5)) << "before the wait, and beside it";
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  EXPECT_EQ(0U, Read(2));
  ASSERT_CUDA(cuEventRecord(event_, stream_)) << "later than what the launch waits for";
  LetGo();
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, Read(1));
  EXPECT_EQ(1U, Read(2));
}

TEST_F(GraphEventsTest, ALaunchWaitsForARecordOfAnotherLaunch) {
  CUgraph waiting = nullptr;
  ASSERT_CUDA(cuGraphCreate(&waiting, 0));
  Hold(graph_, {Record(graph_, event_, {Set(graph_, 1)})});
  Set(waiting, 2, {Wait(waiting, event_)});
  Launch(graph_);
  ASSERT_CUDA(cuGraphLaunch(Instantiate(waiting), side_));
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_EQ(1U, Read(1));
  EXPECT_EQ(1U, Read(2));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  LetGo();
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuGraphDestroy(waiting));
}

TEST_F(GraphEventsTest, ALaunchWaitsForWhatItsLastLaunchRecorded) {
  Record(graph_, event_, {Set(graph_, 1, {Wait(graph_, event_)})});
  const CUgraphExec exec = Instantiate(graph_);
  for (int i = 0; i < 3; ++i) ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_CUDA(cuEventSynchronize(event_));
  EXPECT_EQ(1U, Read(1));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(GraphEventsTest, ARecordAfterTheLaunchIsTheOneThatCounts) {
  Record(graph_, event_, {Hold(graph_)});
  Launch(graph_);
  ASSERT_CUDA(cuStreamWaitEvent(side_, event_, 0));
  CUstream third = nullptr;
  ASSERT_CUDA(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuEventRecord(event_, third));
  EXPECT_CUDA(cuEventSynchronize(event_));
  EXPECT_CUDA(cuEventQuery(event_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(side_)) << "waits for the node";
  LetGo();
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_CUDA(cuEventQuery(event_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(GraphEventsTest, OfTwoRecordsTheLaterNodeCounts) {
  for (const bool backwards : {false, true}) {
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuGraphCreate(&graph, 0));
    CUgraphNode ends[2] = {Record(graph, event_), Record(graph, event_)};
    if (backwards) std::swap(ends[0], ends[1]);
    const CUgraphNode held = Hold(graph, {ends[0]});
    ASSERT_CUDA(cuGraphAddDependencies(graph, &held, &ends[1], nullptr, 1));
    __atomic_store_n(words_, 0U, __ATOMIC_SEQ_CST);
    Launch(graph);
    cuheap_sim_run_until_idle();
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event_));
    LetGo();
    EXPECT_CUDA(cuEventSynchronize(event_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_CUDA(cuGraphDestroy(graph));
  }
}

TEST_F(GraphEventsTest, NodesOfChildGraphsRecordAndWait) {
  CUevent before = nullptr;
  ASSERT_CUDA(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuMemsetD32Async(Word(3), 1, 1, side_));
  ASSERT_CUDA(cuEventRecord(before, side_));
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  Set(child, 2, {Hold(child, {Record(child, event_, {Set(child, 1, {Wait(child, before)})})})});
  AddChild(graph_, child);
  Launch(graph_);
  ExpectReachedInTheMiddle();
  EXPECT_EQ(1U, Read(3));
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphEventsTest, BodiesHaveNoEvents) {
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  wanted.conditional = {0, CU_GRAPH_COND_TYPE_IF, 1, nullptr, context_};
  ASSERT_CUDA(cuGraphConditionalHandleCreate(&wanted.conditional.handle, graph_, context_, 0, 0));
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  const CUgraph body = wanted.conditional.phGraph_out[0];
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddEventRecordNode(&node, body, nullptr, 0, event_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddEventWaitNode(&node, body, nullptr, 0, event_));
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  Record(child, event_);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&node, body, nullptr, 0, child));
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphEventsTest, CapturedRecordsAndWaitsAreSuchNodes) {
  CUevent before = nullptr;
  ASSERT_CUDA(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuStreamWaitEvent(stream_, before, CU_EVENT_WAIT_EXTERNAL));
  ASSERT_CUDA(cuMemcpyDtoDAsync(Word(1), Word(3), 4, stream_));
  ASSERT_CUDA(cuEventRecordWithFlags(event_, stream_, CU_EVENT_RECORD_EXTERNAL));
  Hold(stream_);
  ASSERT_CUDA(cuMemsetD32Async(Word(2), 1, 1, stream_));
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  ASSERT_CUDA(cuMemsetD32Async(Word(3), 1, 1, side_));
  ASSERT_CUDA(cuEventRecord(before, side_));
  Launch(captured);
  ExpectReachedInTheMiddle();
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(GraphEventsTest, TimeIsTakenAtEachNode) {
  CUevent end = nullptr;
  ASSERT_CUDA(cuEventCreate(&end, CU_EVENT_DEFAULT));
  Record(graph_, end, {Hold(graph_, {Record(graph_, event_)})});
  Launch(graph_);
  EXPECT_CUDA(cuEventSynchronize(event_));
  float milliseconds = -1;
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, event_, end));
  usleep(2000);
  LetGo();
  EXPECT_CUDA(cuEventSynchronize(end));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, event_, end));
  EXPECT_LE(2.0F, milliseconds);
}

TEST_F(GraphEventsTest, ALaunchThatFailsReachesItsRecords) {
  const CUdeviceptr lost = Alloc(4 * kMiB);
  CUcontext other = nullptr;
  CUevent elsewhere = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 1));
  ASSERT_CUDA(cuCtxSetCurrent(other));
  ASSERT_CUDA(cuEventCreate(&elsewhere, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  const CUgraphNode failing = AddSet(graph_, lost, 1);
  Record(graph_, event_, {failing});
  Record(graph_, elsewhere, {failing});
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuMemFree(lost));
  const CUresult launched = cuGraphLaunch(exec, stream_);
  EXPECT_TRUE(launched == CUDA_SUCCESS || launched == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuEventSynchronize(event_));
  ASSERT_CUDA(cuCtxSetCurrent(other));
  EXPECT_CUDA(cuEventSynchronize(elsewhere)) << "whose context is whole";
  EXPECT_CUDA(cuEventQuery(elsewhere));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
}

}  // namespace
}  // namespace cuheap::sim
