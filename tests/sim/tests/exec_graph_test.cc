// Clones, children, and changes of executable graphs.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class ExecGraphTest : public Graphs {
 protected:
  CUgraph NewGraph() {
    CUgraph graph = nullptr;
    EXPECT_CUDA(cuGraphCreate(&graph, 0));
    return graph;
  }
  CUgraphNode AddCopy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    const CUDA_MEMCPY3D copy = Row(to, from, bytes);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddMemcpyNode(&node, graph_, nullptr, 0, &copy, context_));
    return node;
  }
  static CUDA_MEMCPY3D Row(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
  }
};

TEST_F(ExecGraphTest, ACloneKnowsTheNodesItWasMadeFrom) {
  const CUgraphNode first = AddSet(graph_, block_, 1);
  const CUgraphNode second = AddSet(graph_, block_, 2, {first});
  CUgraph clone = nullptr;
  ASSERT_CUDA(cuGraphClone(&clone, graph_));
  const CUgraphNode later = AddSet(graph_, block_, 3, {second});
  CUgraphNode found = nullptr;
  ASSERT_CUDA(cuGraphNodeFindInClone(&found, second, clone));
  EXPECT_NE(second, found);
  CUDA_MEMSET_NODE_PARAMS set{};
  ASSERT_CUDA(cuGraphMemsetNodeGetParams(found, &set));
  EXPECT_EQ(2U, set.value);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, later, clone));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, second, graph_));
  ASSERT_CUDA(cuGraphDestroyNode(found));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, second, clone));
  EXPECT_CUDA(cuGraphDestroy(clone));
}

TEST_F(ExecGraphTest, AChildIsACopyThatItsHandleChanges) {
  CUgraph child = NewGraph();
  AddSet(child, block_, 1);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  AddSet(child, block_ + 4, 1);
  CUgraph inside = nullptr;
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_NE(child, inside);
  std::size_t count = 0;
  ASSERT_CUDA(cuGraphGetNodes(inside, nullptr, &count));
  EXPECT_EQ(1U, count) << "cloned at the call";
  AddSet(inside, block_ + 8, 9);
  CUgraph clone = nullptr;
  ASSERT_CUDA(cuGraphClone(&clone, graph_));
  AddSet(inside, block_ + 12, 9);
  Run(Instantiate(clone));
  EXPECT_EQ(1U, Word(block_));
  EXPECT_EQ(9U, Word(block_ + 8));
  EXPECT_EQ(0U, Word(block_ + 12)) << "children are copied into clones";
  CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
  wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.bytesize = 512;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&node, inside, nullptr, 0, &wanted));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inside));
  EXPECT_CUDA(cuGraphDestroy(clone));
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(ExecGraphTest, AMovedChildMayHaveMemory) {
  CUgraph child = NewGraph();
  CUdeviceptr address = 0;
  const CUgraphNode alloc = AddAlloc(child, 512, &address);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddMemFreeNode(&node, child, &alloc, 1, address));
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_GRAPH;
  wanted.graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  wanted.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  CUgraph inside = nullptr;
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_EQ(child, inside);
  CUgraphExec exec = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, child, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  exec = Instantiate(graph_);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, child, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR, info.result);
  Run(exec);
}

TEST_F(ExecGraphTest, UnusedBytesOfParametersAreZero) {
  CUgraphNode node = nullptr;
  const auto expect = [&](CUresult result, const CUgraphNodeParams& wanted) {
    CUgraphNodeParams copy = wanted;
    EXPECT_EQ(result, cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &copy));
  };
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_EMPTY;
  expect(CUDA_SUCCESS, wanted);
  wanted.reserved1[0] = 1;
  expect(CUDA_ERROR_INVALID_VALUE, wanted);
  wanted = {};
  wanted.type = CU_GRAPH_NODE_TYPE_MEMSET;
  wanted.memset = {block_, 0, 1, 4, 1, 1, context_};
  expect(CUDA_SUCCESS, wanted);
  CUgraphNodeParams dirty = wanted;
  dirty.reserved1[28] = 1;
  expect(CUDA_ERROR_INVALID_VALUE, dirty);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &dirty));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(Instantiate(graph_), node, &dirty));
  wanted = {};
  wanted.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  wanted.memcpy.copyCtx = context_;
  wanted.memcpy.copyParams = Row(block_ + 64, block_, 4);
  expect(CUDA_SUCCESS, wanted);
  wanted.memcpy.flags = 1;
  expect(CUDA_ERROR_INVALID_VALUE, wanted);
  wanted.memcpy.flags = 0;
  wanted.memcpy.reserved = 1;
  expect(CUDA_ERROR_INVALID_VALUE, wanted);
}

TEST_F(ExecGraphTest, AMovedChildIsOfOneParent) {
  CUgraph child = NewGraph();
  CUgraph other = NewGraph();
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_GRAPH;
  wanted.graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&node, other, nullptr, 0, child));
  wanted.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, other, nullptr, nullptr, 0, &wanted));
  EXPECT_CUDA(cuGraphDestroy(other));
}

TEST_F(ExecGraphTest, AGraphIsNotMovedIntoItself) {
  CUgraph child = NewGraph();
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  EXPECT_CUDA(cuGraphDestroy(child));
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &child));
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_GRAPH;
  wanted.graph = {graph_, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, child, nullptr, nullptr, 0, &wanted));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
}

TEST_F(ExecGraphTest, ANodeOfAnExecutableGraphChangesAlone) {
  const CUgraphNode node = AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  const CUDA_MEMSET_NODE_PARAMS set{block_ + 4, 0, 2, 4, 1, 1};
  ASSERT_CUDA(cuGraphExecMemsetNodeSetParams(exec, node, &set, context_));
  Run(exec);
  EXPECT_EQ(0U, Word(block_));
  EXPECT_EQ(2U, Word(block_ + 4));
  CUDA_MEMSET_NODE_PARAMS told{};
  ASSERT_CUDA(cuGraphMemsetNodeGetParams(node, &told));
  EXPECT_EQ(1U, told.value) << "the node itself is as it was";
  const CUDA_MEMSET_NODE_PARAMS none{block_, 0, 2, 4, 0, 1};
  const CUDA_MEMSET_NODE_PARAMS rows{block_, 64, 2, 4, 1, 2};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, node, &none, context_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, node, &rows, context_));
  const CUgraphNode later = AddSet(graph_, block_, 3);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, later, &set, context_));
}

TEST_F(ExecGraphTest, ACopyChangesItsAddressesOnItsDevice) {
  ASSERT_CUDA(cuMemsetD32(block_, 4, 1));
  ASSERT_CUDA(cuCtxSynchronize());
  const CUgraphNode node = AddCopy(block_ + 16, block_, 4);
  const CUgraphExec exec = Instantiate(graph_);
  CUDA_MEMCPY3D copy = Row(block_ + 32, block_, 4);
  ASSERT_CUDA(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_));
  Run(exec);
  EXPECT_EQ(0U, Word(block_ + 16));
  EXPECT_EQ(4U, Word(block_ + 32));
  unsigned host = 0;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = &host;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphExecMemcpyNodeSetParams(exec, node, nullptr, context_));
}

TEST_F(ExecGraphTest, EveryKindOfNodeChanges) {
  int calls[2] = {};
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  CUDA_HOST_NODE_PARAMS host{count, &calls[0]};
  CUgraphNode host_node = nullptr;
  ASSERT_CUDA(cuGraphAddHostNode(&host_node, graph_, nullptr, 0, &host));
  CUevent events[2] = {};
  for (CUevent& event : events) ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CUgraphNode record = nullptr;
  CUgraphNode wait = nullptr;
  ASSERT_CUDA(cuGraphAddEventRecordNode(&record, graph_, &host_node, 1, events[0]));
  ASSERT_CUDA(cuGraphAddEventWaitNode(&wait, graph_, nullptr, 0, events[0]));
  const CUgraphNode kernel = AddKernel(graph_);
  const CUgraphExec exec = Instantiate(graph_);
  host.userData = &calls[1];
  ASSERT_CUDA(cuGraphExecHostNodeSetParams(exec, host_node, &host));
  ASSERT_CUDA(cuGraphExecEventRecordNodeSetEvent(exec, record, events[1]));
  ASSERT_CUDA(cuGraphExecEventWaitNodeSetEvent(exec, wait, events[1]));
  CUDA_KERNEL_NODE_PARAMS launch{};
  ASSERT_CUDA(cuGraphKernelNodeGetParams(kernel, &launch));
  launch.gridDimX = 2;
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  launch.blockDimX = 0;
  EXPECT_NE(CUDA_SUCCESS, cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  Run(exec);
  EXPECT_EQ(0, calls[0]);
  EXPECT_EQ(1, calls[1]);
  float milliseconds = 0;
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, events[1], events[1])) << "recorded by the graph";
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, events[0], events[0]));
  ASSERT_CUDA(cuGraphEventRecordNodeSetEvent(record, events[1]));
  CUevent told = nullptr;
  ASSERT_CUDA(cuGraphEventRecordNodeGetEvent(record, &told));
  EXPECT_EQ(events[1], told);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeSetEvent(record, events[1]));
}

TEST_F(ExecGraphTest, AChildOfAnExecutableGraphChanges) {
  CUgraph child = NewGraph();
  const CUgraphNode inner = AddSet(child, block_, 1);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  const CUgraphExec exec = Instantiate(graph_);
  const CUDA_MEMSET_NODE_PARAMS set{block_, 0, 2, 4, 1, 1};
  ASSERT_CUDA(cuGraphMemsetNodeSetParams(inner, &set));
  ASSERT_CUDA(cuGraphExecChildGraphNodeSetParams(exec, node, child));
  Run(exec);
  EXPECT_EQ(2U, Word(block_));
  AddSet(child, block_, 3, {inner});
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, child));
  CUgraph inside = nullptr;
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &inside));
  CUgraphNode nested = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(cuGraphGetNodes(inside, &nested, &count));
  const CUDA_MEMSET_NODE_PARAMS third{block_, 0, 3, 4, 1, 1};
  ASSERT_CUDA(cuGraphExecMemsetNodeSetParams(exec, nested, &third, context_));
  Run(exec);
  EXPECT_EQ(3U, Word(block_)) << "a node inside a child is named by the node inside the graph";
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(ExecGraphTest, TheGenericCallChangesWhatMayChange) {
  const CUgraphNode node = AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_MEMSET;
  wanted.memset = {block_, 0, 8, 4, 1, 1, context_};
  ASSERT_CUDA(cuGraphExecNodeSetParams(exec, node, &wanted));
  Run(exec);
  EXPECT_EQ(8U, Word(block_));
  wanted.reserved2 = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, node, &wanted));
  wanted.reserved2 = 0;
  wanted.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, node, &wanted));
  CUdeviceptr address = 0;
  const CUgraphNode alloc = AddAlloc(graph_, 512, &address);
  wanted.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeSetParams(alloc, &wanted));
}

TEST_F(ExecGraphTest, ADisabledNodeDoesNothing) {
  const CUgraphNode first = AddSet(graph_, block_, 1);
  const CUgraphNode second = AddSet(graph_, block_, 2, {first});
  CUgraphNode empty = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0));
  const CUgraphExec exec = Instantiate(graph_);
  unsigned enabled = 5;
  ASSERT_CUDA(cuGraphNodeGetEnabled(exec, second, &enabled));
  EXPECT_EQ(1U, enabled);
  ASSERT_CUDA(cuGraphNodeSetEnabled(exec, second, 0));
  ASSERT_CUDA(cuGraphNodeGetEnabled(exec, second, &enabled));
  EXPECT_EQ(0U, enabled);
  Run(exec);
  EXPECT_EQ(1U, Word(block_));
  ASSERT_CUDA(cuGraphNodeSetEnabled(exec, second, 1));
  Run(exec);
  EXPECT_EQ(2U, Word(block_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, empty, 0));
}

TEST_F(ExecGraphTest, AnUpdateSaysWhichNodeDoesNotFit) {
  const CUgraphNode first = AddSet(graph_, block_, 1);
  AddSet(graph_, block_, 2, {first});
  const CUgraphExec exec = Instantiate(graph_);
  CUgraph other = NewGraph();
  AddSet(other, block_, 3);
  const CUgraphNode loose = AddSet(other, block_ + 4, 4);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  EXPECT_EQ(loose, info.errorNode);
  Run(exec);
  EXPECT_EQ(2U, Word(block_)) << "nothing of it was taken";
  EXPECT_CUDA(cuGraphDestroy(other));
  other = NewGraph();
  const CUgraphNode empty = AddKernel(other);
  AddSet(other, block_, 2, {empty});
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, info.result);
  EXPECT_EQ(empty, info.errorNode);
  EXPECT_CUDA(cuGraphDestroy(other));
}

TEST_F(ExecGraphTest, ACycleIsFoundAtInstantiation) {
  const CUgraphNode first = AddSet(graph_, block_, 1);
  const CUgraphNode second = AddSet(graph_, block_, 2, {first});
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph_, &first, &first, nullptr, 1));
  ASSERT_CUDA(cuGraphAddDependencies(graph_, &second, &first, nullptr, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec exec = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, parameters.result_out);
  EXPECT_NE(nullptr, parameters.hErrNode_out);
  EXPECT_EQ(nullptr, exec);
}

}  // namespace
}  // namespace cuheap::sim
