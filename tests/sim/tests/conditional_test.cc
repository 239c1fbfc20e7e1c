// Conditional nodes: what runs is what the value of a handle says when the node is reached.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class ConditionalTest : public Graphs {
 protected:
  CUgraphConditionalHandle Handle(unsigned initial = 0,
                                  unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_CUDA(cuGraphConditionalHandleCreate(&handle, graph_, context_, initial, flags));
    return handle;
  }
  CUgraphNodeParams Wanted(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                           unsigned size) {
    CUgraphNodeParams wanted{};
    wanted.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    wanted.conditional = {handle, type, size, nullptr, context_};
    return wanted;
  }
  CUgraph* Add(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
               unsigned size, std::vector<CUgraphNode> after = {}) {
    CUgraphNodeParams wanted = Wanted(handle, type, size);
    EXPECT_CUDA(cuGraphAddNode(&node_, graph, after.data(), nullptr, after.size(), &wanted));
    return wanted.conditional.phGraph_out;
  }
  // What a kernel would do: `values`, one at each turn.
  CUgraphNode CaptureValues(CUgraph graph, CUgraphConditionalHandle handle,
                            std::vector<unsigned> values, std::vector<CUgraphNode> after = {}) {
    EXPECT_CUDA(cuStreamBeginCaptureToGraph(stream_, graph, after.data(), nullptr, after.size(),
                                            CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_EQ(0, cuheap_sim_set_conditional(stream_, handle, values.data(), values.size()));
    const CUgraphNode* last = nullptr;
    std::size_t count = 0;
    CUstreamCaptureStatus status{};
    EXPECT_CUDA(cuStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &last, nullptr, &count));
    const CUgraphNode node = count == 1 ? last[0] : nullptr;
    CUgraph captured = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream_, &captured));
    EXPECT_EQ(graph, captured);
    return node;
  }
  void Clear() { EXPECT_CUDA(cuMemsetD32Async(block_, 0, 16, stream_)); }

  CUgraphNode node_ = nullptr;
};

TEST_F(ConditionalTest, AnIfRunsItsBodyForValuesOtherThanZero) {
  const auto handle = Handle(1);
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_IF, 1);
  AddSet(bodies[0], block_, 5);
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(5U, Word(block_));
}

TEST_F(ConditionalTest, AnIfWithTwoBodiesRunsOneOfThem) {
  const auto handle = Handle(0);
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_IF, 2);
  AddSet(bodies[0], block_, 5);
  AddSet(bodies[1], block_, 6);
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(6U, Word(block_));
}

TEST_F(ConditionalTest, ANodeBeforeItDecides) {
  const auto handle = Handle(0);
  const CUgraphNode kernel = CaptureValues(graph_, handle, {1, 0});
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_IF, 1, {kernel});
  AddSet(bodies[0], block_, 5);
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(5U, Word(block_));
  Clear();
  Run(exec);
  EXPECT_EQ(0U, Word(block_)) << "the second launch wrote 0";
}

TEST_F(ConditionalTest, AWhileEndsWithItsValue) {
  const auto handle = Handle(1);
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  CUgraph inner = bodies[0];
  const auto turn = Handle(0);
  const CUgraphNode counting = CaptureValues(inner, turn, {0, 1, 2});
  CUgraph* cases = Add(inner, turn, CU_GRAPH_COND_TYPE_SWITCH, 3, {counting});
  for (unsigned i = 0; i < 3; ++i) AddSet(cases[i], block_ + 4 * i, 10 + i);
  CaptureValues(inner, handle, {1, 1, 0}, {node_});
  const CUgraphExec exec = Instantiate(graph_);
  for (int launch = 0; launch < 2; ++launch) {
    Clear();
    Run(exec);
    EXPECT_EQ(10U, Word(block_));
    EXPECT_EQ(11U, Word(block_ + 4));
    EXPECT_EQ(12U, Word(block_ + 8));
  }
}

TEST_F(ConditionalTest, AWhileThatDoesNotEndIsALoudFailure) {
  const auto handle = Handle(1);
  Add(graph_, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  const CUgraphExec exec = Instantiate(graph_);
  ::testing::internal::CaptureStderr();
  cuGraphLaunch(exec, stream_);  // may say so already
  EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cuStreamSynchronize(stream_));
  EXPECT_NE(std::string::npos,
            ::testing::internal::GetCapturedStderr().find("cuheap_sim_set_conditional"));
}

TEST_F(ConditionalTest, ASwitchRunsTheBodyOfItsValueOrNone) {
  const auto handle = Handle(0, 0);
  const CUgraphNode kernel = CaptureValues(graph_, handle, {1, 2});
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_SWITCH, 2, {kernel});
  AddSet(bodies[0], block_, 5);
  AddSet(bodies[1], block_, 6);
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(6U, Word(block_));
  Clear();
  Run(exec);
  EXPECT_EQ(0U, Word(block_));
}

TEST_F(ConditionalTest, AStreamSetsAValueBeforeALaunch) {
  const auto handle = Handle(0, 0);
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_IF, 1);
  AddSet(bodies[0], block_, 5);
  const CUgraphExec exec = Instantiate(graph_);
  const unsigned one = 1;
  EXPECT_EQ(0, cuheap_sim_set_conditional(stream_, handle, &one, 1));
  Run(exec);
  EXPECT_EQ(5U, Word(block_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuheap_sim_set_conditional(stream_, handle + 99, &one, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuheap_sim_set_conditional(stream_, handle, &one, 0));
}

TEST_F(ConditionalTest, BodiesHaveOnlyWhatADeviceCanLoop) {
  const auto handle = Handle(1);
  CUgraph* bodies = Add(graph_, handle, CU_GRAPH_COND_TYPE_IF, 1);
  CUgraphNode node = nullptr;
  const CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUdeviceptr address = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&node, bodies[0], nullptr, 0, &host));
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(stream_, bodies[0], nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(&address, 512, stream_));
  EXPECT_EQ(9U, address);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream_, host.fn, nullptr));
  ASSERT_CUDA(cuMemsetD32Async(block_, 3, 1, stream_));
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(bodies[0]));
  Run(Instantiate(graph_));
  EXPECT_EQ(3U, Word(block_));
}

TEST_F(ConditionalTest, AChildInABodyKeepsToTheSameRule) {
  CUgraph* bodies = Add(graph_, Handle(1), CU_GRAPH_COND_TYPE_IF, 1);
  CUgraph child = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, bodies[0], nullptr, 0, child));
  EXPECT_CUDA(cuGraphDestroy(child));
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &child));
  const CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  ASSERT_CUDA(cuGraphAddHostNode(&node, child, nullptr, 0, &host));
  CUgraphExec exec = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, graph_, 0));
  ASSERT_CUDA(cuGraphDestroyNode(node));
  Instantiate(graph_);
}

TEST_F(ConditionalTest, GraphsWithConditionsAreNotCopied) {
  Add(graph_, Handle(1), CU_GRAPH_COND_TYPE_IF, 1);
  CUgraph clone = nullptr;
  CUgraphExec second = nullptr;
  CUgraphNode child = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphClone(&clone, graph_));
  ASSERT_CUDA(cuGraphCreate(&clone, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&child, clone, nullptr, 0, graph_));
  EXPECT_CUDA(cuGraphDestroy(clone));
  Instantiate(graph_);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, graph_, 0));
}

TEST_F(ConditionalTest, AHandleIsForItsGraphAndThoseInside) {
  const auto outer = Handle(1);
  const auto inner = Handle(1);
  CUgraph other = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  CUgraphNodeParams wanted = Wanted(outer, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, other, nullptr, nullptr, 0, &wanted));
  EXPECT_EQ(nullptr, node);
  const CUgraph body = Add(graph_, outer, CU_GRAPH_COND_TYPE_IF, 1)[0];
  AddSet(Add(body, inner, CU_GRAPH_COND_TYPE_IF, 1)[0], block_, 6);
  Run(Instantiate(graph_));
  EXPECT_EQ(6U, Word(block_));
  EXPECT_CUDA(cuGraphDestroy(other));
}

TEST_F(ConditionalTest, HandlesAndSizesAreChecked) {
  const auto handle = Handle(1);
  CUgraphNode node = nullptr;
  for (const auto& [type, size] : {std::pair{CU_GRAPH_COND_TYPE_IF, 0U},
                                   {CU_GRAPH_COND_TYPE_IF, 3U},
                                   {CU_GRAPH_COND_TYPE_WHILE, 2U},
                                   {CU_GRAPH_COND_TYPE_SWITCH, 0U},
                                   {static_cast<CUgraphConditionalNodeType>(3), 1U}}) {
    CUgraphNodeParams wanted = Wanted(handle, type, size);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
              cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
    EXPECT_EQ(nullptr, wanted.conditional.phGraph_out);
  }
  CUgraphNodeParams unknown = Wanted(handle + 1000, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &unknown));
  CUgraphConditionalHandle out = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&out, graph_, context_, 0, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphConditionalHandleCreate(nullptr, graph_, context_, 0, 0));
  EXPECT_EQ(3U, out);
}

TEST_F(ConditionalTest, AHandleWithoutANodeKeepsAGraphFromRunning) {
  Handle(1);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec exec = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, parameters.result_out);
}

TEST_F(ConditionalTest, BodiesAreUpdatedConditionsAreNot) {
  CUgraph* bodies = Add(graph_, Handle(1), CU_GRAPH_COND_TYPE_IF, 1);
  AddSet(bodies[0], block_, 5);
  const CUgraphExec exec = Instantiate(graph_);
  CUgraph fresh = nullptr;
  ASSERT_CUDA(cuGraphCreate(&fresh, 0));
  CUgraphConditionalHandle handle = 0;
  ASSERT_CUDA(
      cuGraphConditionalHandleCreate(&handle, fresh, context_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  AddSet(Add(fresh, handle, CU_GRAPH_COND_TYPE_IF, 1)[0], block_, 6);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_CUDA(cuGraphExecUpdate(exec, fresh, &info));
  Run(exec);
  EXPECT_EQ(6U, Word(block_));
  EXPECT_CUDA(cuGraphDestroy(fresh));
  ASSERT_CUDA(cuGraphCreate(&fresh, 0));
  ASSERT_CUDA(cuGraphConditionalHandleCreate(&handle, fresh, context_, 1, 0));
  Add(fresh, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, fresh, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, info.result);
  EXPECT_CUDA(cuGraphDestroy(fresh));
}

}  // namespace
}  // namespace cuheap::sim
