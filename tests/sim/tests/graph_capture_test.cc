// Graphs while a capture puts nodes into them.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphCaptureTest : public Graphs {
 protected:
  void BeginInto(CUgraph graph) {
    ASSERT_CUDA(cuStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0,
                                            CU_STREAM_CAPTURE_MODE_RELAXED));
  }
  CUgraph End() {
    CUgraph graph = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream_, &graph));
    return graph;
  }
  CUresult TryInstantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    const CUresult result = cuGraphInstantiate(&exec, graph, 0);
    EXPECT_EQ(nullptr, exec);
    return result;
  }
  CUgraphNode AddConditional(CUgraph* body) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_CUDA(
        cuGraphConditionalHandleCreate(&handle, graph_, context_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams wanted{};
    wanted.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    wanted.conditional = {handle, CU_GRAPH_COND_TYPE_IF, 1, nullptr, context_};
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
    *body = wanted.conditional.phGraph_out[0];
    return node;
  }
};

TEST_F(GraphCaptureTest, AGraphUnderCaptureStaysAndIsNotInstantiated) {
  const CUgraphNode earlier = AddSet(graph_, block_, 1);
  BeginInto(graph_);
  ASSERT_CUDA(cuMemsetD32Async(block_ + 4, 2, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, TryInstantiate(graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(earlier));
  EXPECT_NE(nullptr, AddSet(graph_, block_ + 8, 3)) << "all else is allowed";
  EXPECT_EQ(graph_, End());
  Run(Instantiate(graph_));
  EXPECT_EQ(2U, Word(block_ + 4));
  EXPECT_CUDA(cuGraphDestroyNode(earlier));
}

TEST_F(GraphCaptureTest, SoDoesTheGraphThatACaptureMade) {
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamGetCaptureInfo(stream_, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, TryInstantiate(graph));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  EXPECT_EQ(graph, End());
  Instantiate(graph);
  EXPECT_CUDA(cuGraphDestroy(graph));
}

TEST_F(GraphCaptureTest, TwoCapturesIntoAGraphBothHoldIt) {
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  BeginInto(graph_);
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(other, graph_, nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(graph_, End());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, TryInstantiate(graph_));
  EXPECT_CUDA(cuStreamDestroy(other)) << "ends the capture, without its end";
  Instantiate(graph_);
}

TEST_F(GraphCaptureTest, ACaptureIntoABodyHoldsAllAround) {
  CUgraph body = nullptr;
  const CUgraphNode conditional = AddConditional(&body);
  const CUgraphNode beside = AddSet(graph_, block_ + 4, 1);
  BeginInto(body);
  ASSERT_CUDA(cuMemsetD32Async(block_, 7, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, TryInstantiate(graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(conditional));
  EXPECT_CUDA(cuGraphDestroyNode(beside));
  EXPECT_EQ(body, End());
  Run(Instantiate(graph_));
  EXPECT_EQ(7U, Word(block_));
}

TEST_F(GraphCaptureTest, ACaptureIntoAChildHoldsTheChild) {
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_GRAPH;
  wanted.graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  CUgraphNode node = nullptr;
  CUgraph inside = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &inside));
  BeginInto(inside);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &wanted));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(node));
  EXPECT_EQ(inside, End());
  EXPECT_CUDA(cuGraphNodeSetParams(node, &wanted));
  EXPECT_CUDA(cuGraphDestroy(child));
}

class JoinTest : public GraphCaptureTest {
 protected:
  // The origin sets a word, another stream the next one.
  void Fork() {
    ASSERT_CUDA(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASSERT_CUDA(cuMemsetD32Async(block_, 1, 1, stream_));
    ASSERT_CUDA(cuEventRecord(event_, stream_));
    ASSERT_CUDA(cuStreamWaitEvent(other_, event_, 0));
    ASSERT_CUDA(cuMemsetD32Async(block_ + 4, 2, 1, other_));
  }
  void Join() {
    ASSERT_CUDA(cuEventRecord(event_, other_));
    ASSERT_CUDA(cuStreamWaitEvent(stream_, event_, 0));
  }
  CUgraphNode TailOf(CUstream stream) {
    CUstreamCaptureStatus status{};
    const CUgraphNode* tails = nullptr;
    std::size_t count = 0;
    EXPECT_CUDA(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &tails, nullptr, &count));
    EXPECT_EQ(1U, count);
    return tails[0];
  }
  CUresult EndAndDestroy() {
    CUgraph graph = nullptr;
    const CUresult result = cuStreamEndCapture(stream_, &graph);
    if (result == CUDA_SUCCESS) {
      EXPECT_CUDA(cuGraphDestroy(graph));
    }
    return result;
  }

  CUstream other_ = nullptr;
  CUevent event_ = nullptr;
};

TEST_F(JoinTest, AStreamThatDidNotJoinIsToldOf) {
  Fork();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, EndAndDestroy());
}

TEST_F(JoinTest, AnEdgeThatTheApplicationRemovedStillJoins) {
  Fork();
  const CUgraphNode branch = TailOf(other_);
  Join();
  ASSERT_CUDA(cuMemsetD32Async(block_ + 8, 3, 1, stream_));
  const CUgraphNode last = TailOf(stream_);
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamGetCaptureInfo(stream_, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  ASSERT_CUDA(cuGraphRemoveDependencies(graph, &branch, &last, nullptr, 1));
  EXPECT_CUDA(EndAndDestroy());
}

TEST_F(JoinTest, DependenciesThatTheApplicationReplacedAreNotMissed) {
  Fork();
  Join();
  ASSERT_CUDA(cuStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_CUDA(EndAndDestroy());
}

TEST_F(JoinTest, WorkAfterTheJoinIsMissed) {
  Fork();
  Join();
  ASSERT_CUDA(cuMemsetD32Async(block_ + 12, 3, 1, other_));
  ASSERT_CUDA(cuStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, EndAndDestroy());
}

TEST_F(GraphCaptureTest, ACaptureThatFailedLetsGo) {
  BeginInto(graph_);
  ASSERT_CUDA(cuMemsetD32Async(block_, 2, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream_));
  CUgraph none = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &none));
  Instantiate(graph_);
}

}  // namespace
}  // namespace cuheap::sim
