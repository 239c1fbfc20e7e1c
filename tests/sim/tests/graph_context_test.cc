// The contexts that the nodes of a graph run in.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphContextTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other_context_, 1));
    ASSERT_CUDA(cuCtxSetCurrent(other_context_));
    ASSERT_CUDA(cuStreamCreate(&other_stream_, CU_STREAM_NON_BLOCKING));
    other_block_ = Alloc(4096);
    ASSERT_CUDA(cuMemsetD32(other_block_, 0, 1024));
    ASSERT_CUDA(cuCtxSynchronize());
    ASSERT_CUDA(cuCtxSetCurrent(context_));
  }
  void TearDown() override {
    Graphs::TearDown();
    EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
    for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) EXPECT_EQ(0U, cuheap_sim_used(1, kind));
  }

  static CUDA_MEMSET_NODE_PARAMS SetTo(CUdeviceptr to, unsigned value) {
    return {to, 0, value, 4, 1, 1};
  }
  CUresult AddSetIn(CUcontext context, CUdeviceptr to, unsigned value, CUgraphNode* node) {
    const CUDA_MEMSET_NODE_PARAMS set = SetTo(to, value);
    return cuGraphAddMemsetNode(node, graph_, nullptr, 0, &set, context);
  }
  static CUstreamBatchMemOpParams Write(CUdeviceptr to, unsigned value) {
    CUstreamBatchMemOpParams write{};
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = to;
    write.writeValue.value = value;
    return write;
  }
  CUcontext Destroyed() {
    CUcontext context = nullptr;
    EXPECT_CUDA(cuCtxCreate(&context, nullptr, 0, 0));
    EXPECT_CUDA(cuCtxDestroy(context));
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    return context;
  }
  unsigned OtherWord(CUdeviceptr address) {
    EXPECT_CUDA(cuCtxSetCurrent(other_context_));
    unsigned value = 0;
    EXPECT_CUDA(cuMemcpyDtoHAsync(&value, address, sizeof value, other_stream_));
    EXPECT_CUDA(cuStreamSynchronize(other_stream_));
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    return value;
  }
  // Sets a word of each device, each in a stream of its own.
  CUgraph CaptureOverBothDevices() {
    CUevent fork = nullptr;
    CUevent join = nullptr;
    EXPECT_CUDA(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    EXPECT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CUDA(cuMemsetD32Async(block_, 3, 1, stream_));
    EXPECT_CUDA(cuEventRecord(fork, stream_));
    EXPECT_CUDA(cuStreamWaitEvent(other_stream_, fork, 0));
    EXPECT_CUDA(cuCtxSetCurrent(other_context_));
    EXPECT_CUDA(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    EXPECT_CUDA(cuMemsetD32Async(other_block_, 4, 1, other_stream_));
    EXPECT_CUDA(cuEventRecord(join, other_stream_));
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    EXPECT_CUDA(cuStreamWaitEvent(stream_, join, 0));
    CUgraph captured = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream_, &captured));
    return captured;
  }

  CUcontext other_context_ = nullptr;
  CUstream other_stream_ = nullptr;
  CUdeviceptr other_block_ = 0;
};

TEST_F(GraphContextTest, ACaptureOverTwoDevicesReplaysOnBoth) {
  const CUgraph captured = CaptureOverBothDevices();
  const CUgraphExec exec = Instantiate(captured);
  Run(exec);
  EXPECT_EQ(3U, Word(block_));
  EXPECT_EQ(4U, OtherWord(other_block_));
  CUgraph clone = nullptr;
  ASSERT_CUDA(cuGraphClone(&clone, captured));
  ASSERT_CUDA(cuMemsetD32(block_, 0, 1));
  ASSERT_CUDA(cuCtxSynchronize());
  CUgraphExecUpdateResultInfo info{};
  ASSERT_CUDA(cuGraphExecUpdate(exec, clone, &info));
  Run(exec);
  EXPECT_EQ(3U, Word(block_)) << "clones and updates keep the contexts";
  CUgraphNode child = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&child, graph_, nullptr, 0, captured));
  Run(Instantiate(graph_));
  EXPECT_EQ(4U, OtherWord(other_block_));
  EXPECT_CUDA(cuGraphDestroy(clone));
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(GraphContextTest, NodesRunInTheContextThatTheyNamed) {
  CUgraphNode set = nullptr;
  ASSERT_CUDA(AddSetIn(other_context_, other_block_, 1, &set));
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_MEMSET;
  wanted.memset = {other_block_ + 4, 0, 2, 4, 1, 1, other_context_};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  CUstreamBatchMemOpParams write = Write(other_block_ + 8, 3);
  const CUDA_BATCH_MEM_OP_NODE_PARAMS batch{other_context_, 1, &write, 0};
  ASSERT_CUDA(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &batch));
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(1U, OtherWord(other_block_));
  EXPECT_EQ(2U, OtherWord(other_block_ + 4));
  EXPECT_EQ(3U, OtherWord(other_block_ + 8));
  const CUDA_MEMSET_NODE_PARAMS changed = SetTo(other_block_, 9);
  ASSERT_CUDA(cuGraphExecMemsetNodeSetParams(exec, set, &changed, other_context_));
  Run(exec);
  EXPECT_EQ(9U, OtherWord(other_block_));
}

TEST_F(GraphContextTest, ANodeOfTheWrongContextMayNotTouchAPeer) {
  CUgraphNode set = nullptr;
  ASSERT_CUDA(AddSetIn(other_context_, block_, 1, &set));
  const CUresult launched = cuGraphLaunch(Instantiate(graph_), stream_);
  EXPECT_TRUE(launched == CUDA_SUCCESS || launched == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream_));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(other_stream_)) << "its context too";
}

TEST_F(GraphContextTest, APeerThatWasEnabledIsReachedFromTheNodesContext) {
  ASSERT_CUDA(cuCtxSetCurrent(other_context_));
  ASSERT_CUDA(cuCtxEnablePeerAccess(context_, 0));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  CUgraphNode set = nullptr;
  ASSERT_CUDA(AddSetIn(other_context_, block_, 5, &set));
  Run(Instantiate(graph_));
  EXPECT_EQ(5U, Word(block_));
}

TEST_F(GraphContextTest, ContextsThatAreNoneAreRefused) {
  auto* const garbage = reinterpret_cast<CUcontext>(0x1234);
  for (const CUcontext context : {garbage, Destroyed()}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, AddSetIn(context, block_, 1, &node));
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = block_;
    copy.dstDevice = block_ + 64;
    copy.WidthInBytes = 4;
    copy.Height = copy.Depth = 1;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT,
              cuGraphAddMemcpyNode(&node, graph_, nullptr, 0, &copy, context));
    CUstreamBatchMemOpParams write = Write(block_, 3);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context, 1, &write, 0};
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT,
              cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &batch));
    CUgraphNodeParams wanted{};
    wanted.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    wanted.memcpy.copyCtx = context;
    wanted.memcpy.copyParams = copy;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT,
              cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
    EXPECT_EQ(nullptr, node);
  }
  const CUgraphNode set = AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  const CUDA_MEMSET_NODE_PARAMS changed = SetTo(block_, 2);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT,
            cuGraphExecMemsetNodeSetParams(exec, set, &changed, garbage));
  Run(exec);
  EXPECT_EQ(1U, Word(block_));
}

TEST_F(GraphContextTest, AKernelRunsInTheContextOfItsFunction) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, "kernel"));
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.kern = kernel;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
  launch.ctx = Destroyed();
  CUgraphNode node = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGraphAddKernelNode(&node, graph_, nullptr, 0, &launch));
  launch.func = Kernel();
  EXPECT_CUDA(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &launch)) << "ctx is ignored";
}

TEST_F(GraphContextTest, AttributesAreCopiedWithinAContext) {
  const CUgraphNode here = AddKernel(graph_);
  const CUgraphNode beside = AddKernel(graph_);
  ASSERT_CUDA(cuCtxSetCurrent(other_context_));
  const CUgraphNode there = AddKernel(graph_);
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_CUDA(cuGraphKernelNodeCopyAttributes(here, beside));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(here, there));
}

TEST_F(GraphContextTest, ALaunchNeedsTheContextsOfItsNodes) {
  CUgraphNode set = nullptr;
  ASSERT_CUDA(AddSetIn(other_context_, other_block_, 1, &set));
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuDevicePrimaryCtxReset(1));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuGraphLaunch(exec, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(GraphContextTest, AGraphForTheDeviceHasOneContext) {
  CUgraphNode node = nullptr;
  ASSERT_CUDA(AddSetIn(context_, block_, 1, &node));
  CUDA_GRAPH_INSTANTIATE_PARAMS wanted{};
  wanted.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiateWithParams(&exec, graph_, &wanted));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  ASSERT_CUDA(AddSetIn(other_context_, other_block_, 1, &node));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph_, &wanted));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, wanted.result_out);
  EXPECT_EQ(node, wanted.hErrNode_out);
}

TEST_F(GraphContextTest, ABatchStaysInItsContext) {
  CUstreamBatchMemOpParams write = Write(block_, 3);
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context_, 1, &write, 0};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &batch));
  const CUgraphExec exec = Instantiate(graph_);
  batch.ctx = other_context_;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
  batch.ctx = nullptr;
  EXPECT_CUDA(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch)) << "the current one";
}

}  // namespace
}  // namespace cuheap::sim
