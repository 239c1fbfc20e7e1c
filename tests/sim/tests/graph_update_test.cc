// What an update may not change: whose memory nodes work on, who owns functions, attributes.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphUpdateTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_CUDA(cuGraphCreate(&fresh_, 0));
    ASSERT_CUDA(cuCtxCreate(&own_context_, nullptr, 0, 0));
    foreign_ = Alloc(4096);
    foreign_kernel_ = Kernel();
    ASSERT_CUDA(cuCtxSetCurrent(context_));
    ASSERT_CUDA(cuMemAllocManaged(&managed_, 4096, CU_MEM_ATTACH_GLOBAL));
    ASSERT_CUDA(cuMemAllocHost(&pinned_, 4096));
  }
  void TearDown() override {
    EXPECT_CUDA(cuGraphDestroy(fresh_));
    EXPECT_CUDA(cuMemFreeHost(pinned_));
    EXPECT_CUDA(cuMemFree(managed_));
    EXPECT_CUDA(cuCtxDestroy(own_context_));
    Graphs::TearDown();
  }

  CUgraphExecUpdateResult Update(CUgraphExec exec) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cuGraphExecUpdate(exec, fresh_, &info);
    EXPECT_EQ(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, result == CUDA_SUCCESS);
    return info.result;
  }
  CUresult ChangeSet(CUgraphExec exec, CUgraphNode node, CUdeviceptr to) {
    const CUDA_MEMSET_NODE_PARAMS set{to, 0, 1, 4, 1, 1};
    return cuGraphExecMemsetNodeSetParams(exec, node, &set, context_);
  }
  static CUDA_MEMCPY3D Row(const void* to, CUmemorytype type, CUdeviceptr from) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = type;
    copy.dstHost = const_cast<void*>(to);
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
    copy.WidthInBytes = 4;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  static CUDA_KERNEL_NODE_PARAMS Launch(CUfunction function) {
    CUDA_KERNEL_NODE_PARAMS launch{};
    launch.func = function;
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    return launch;
  }
  static CUgraphNode AddLaunch(CUgraph graph, CUfunction function) {
    const CUDA_KERNEL_NODE_PARAMS launch = Launch(function);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, &launch));
    return node;
  }
  static void Set(CUgraphNode node, CUlaunchAttributeID id, int value) {
    CUlaunchAttributeValue attribute{};
    (id == CU_LAUNCH_ATTRIBUTE_PRIORITY ? attribute.priority : attribute.cooperative) = value;
    EXPECT_CUDA(cuGraphKernelNodeSetAttribute(node, id, &attribute));
  }

  CUgraph fresh_ = nullptr;
  CUcontext own_context_ = nullptr;
  CUdeviceptr foreign_ = 0;
  CUfunction foreign_kernel_ = nullptr;
  CUdeviceptr managed_ = 0;
  void* pinned_ = nullptr;
};

TEST_F(GraphUpdateTest, ASetStaysInItsKindOfMemoryAndItsContext) {
  const CUgraphNode node = AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  EXPECT_CUDA(ChangeSet(exec, node, block_ + 64));
  for (const CUdeviceptr other : {foreign_, managed_, reinterpret_cast<CUdeviceptr>(pinned_)})
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, ChangeSet(exec, node, other));
  AddSet(fresh_, foreign_, 1);
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, Update(exec));
  Run(exec);
  EXPECT_EQ(1U, Word(block_ + 64));
}

TEST_F(GraphUpdateTest, MemoryThatWasFreedIsReplaced) {
  const CUdeviceptr gone = Alloc(4096);
  const CUgraphNode node = AddSet(graph_, gone, 1);
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuMemFree(gone));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, ChangeSet(exec, node, managed_));
  EXPECT_CUDA(ChangeSet(exec, node, block_));
  Run(exec);
  EXPECT_EQ(1U, Word(block_));
}

TEST_F(GraphUpdateTest, ACopyKeepsItsTypesOfMemory) {
  unsigned pageable[1] = {};
  const CUDA_MEMCPY3D copy = Row(pinned_, CU_MEMORYTYPE_HOST, block_);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&node, graph_, nullptr, 0, &copy, context_));
  const CUgraphExec exec = Instantiate(graph_);
  const auto change = [&](const CUDA_MEMCPY3D& wanted) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, &wanted, context_);
  };
  const auto* later = static_cast<const char*>(pinned_) + 64;
  EXPECT_CUDA(change(Row(later, CU_MEMORYTYPE_UNIFIED, block_)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(Row(pageable, CU_MEMORYTYPE_HOST, block_)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(Row(pinned_, CU_MEMORYTYPE_DEVICE, block_)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(Row(pinned_, CU_MEMORYTYPE_HOST, foreign_)));
}

TEST_F(GraphUpdateTest, AKernelKeepsTheOwnerOfItsFunction) {
  const CUgraphNode node = AddLaunch(graph_, Kernel());
  const CUgraphExec exec = Instantiate(graph_);
  CUDA_KERNEL_NODE_PARAMS launch = Launch(foreign_kernel_);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(exec, node, &launch));
  launch.func = Kernel();
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(exec, node, &launch));
  AddLaunch(fresh_, foreign_kernel_);
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, Update(exec));
}

TEST_F(GraphUpdateTest, AChildIsHeldToTheSame) {
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  AddSet(child, block_, 1);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  const CUgraphExec exec = Instantiate(graph_);
  AddSet(fresh_, managed_, 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, fresh_));
  EXPECT_CUDA(cuGraphExecChildGraphNodeSetParams(exec, node, child));
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphUpdateTest, CooperationStays) {
  const CUfunction function = Kernel();
  AddLaunch(graph_, function);
  const CUgraphExec exec = Instantiate(graph_);
  const CUgraphNode node = AddLaunch(fresh_, function);
  Set(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, Update(exec));
  Set(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 0);
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, Update(exec));
}

TEST_F(GraphUpdateTest, PrioritiesStayWhereTheyCount) {
  const CUfunction function = Kernel();
  AddLaunch(graph_, function);
  const CUgraphExec plain = Instantiate(graph_);
  const CUgraphExec exec = Instantiate(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  Set(AddLaunch(fresh_, function), CU_LAUNCH_ATTRIBUTE_PRIORITY, -1);
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, Update(exec));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, Update(plain));
}

}  // namespace
}  // namespace cuheap::sim
