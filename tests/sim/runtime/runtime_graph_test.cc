// Graphs as a program sees them through the simulated runtime.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t size, int, int);
}

namespace {

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, call)
#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)

class RuntimeGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    handle_ = __cudaRegisterFatBinary(image_);
    __cudaRegisterFunction(handle_, &stub_, nullptr, "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &variable_, nullptr, "variable", 0, 64, 0, 0);
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaGraphCreate(&graph_, 0));
    ASSERT_CUDA(cudaMalloc(&block_, 4096));
    ASSERT_CUDA(cudaMemset(block_, 0, 4096));
    ASSERT_CUDA(cudaDeviceSynchronize());
  }
  void TearDown() override {
    if (exec_ != nullptr) {
      EXPECT_CUDA(cudaGraphExecDestroy(exec_));
    }
    EXPECT_CUDA(cudaGraphDestroy(graph_));
    cudaGetLastError();
    EXPECT_CUDA(cudaDeviceReset());
    __cudaUnregisterFatBinary(handle_);
  }

  void* At(std::size_t word) const { return static_cast<int*>(block_) + word; }
  cudaGraphNode_t AddSet(cudaGraph_t graph, void* to, unsigned value) {
    const cudaMemsetParams set{to, 0, value, 4, 1, 1};
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    return node;
  }
  void Instantiate() { ASSERT_CUDA(cudaGraphInstantiate(&exec_, graph_, 0)); }
  void Run() {
    EXPECT_CUDA(cudaGraphLaunch(exec_, stream_));
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
  }
  int Word(std::size_t word) {
    int value = -1;
    EXPECT_CUDA(cudaMemcpy(&value, At(word), sizeof value, cudaMemcpyDefault));
    return value;
  }

  int image_[16] = {};
  char stub_ = 0;
  char variable_ = 0;
  void** handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  void* block_ = nullptr;
};

TEST_F(RuntimeGraphTest, ACopyTellsItsDirectionAndPositions) {
  int host[64] = {};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {block_, 16, 16, 8};
  copy.dstPtr = {host, 32, 16, 4};
  copy.srcPos = {8, 1, 0};
  copy.dstPos = {0, 1, 0};
  copy.extent = {4, 2, 1};
  for (const cudaMemcpyKind kind : {cudaMemcpyDeviceToHost, cudaMemcpyDefault}) {
    copy.kind = kind;
    cudaGraphNode_t node = nullptr;
    ASSERT_CUDA(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, &copy));
    cudaMemcpy3DParms told{};
    ASSERT_CUDA(cudaGraphMemcpyNodeGetParams(node, &told));
    EXPECT_EQ(kind, told.kind);
    EXPECT_EQ(block_, told.srcPtr.ptr);
    EXPECT_EQ(16U, told.srcPtr.pitch);
    EXPECT_EQ(8U, told.srcPtr.ysize);
    EXPECT_EQ(8U, told.srcPos.x);
    EXPECT_EQ(1U, told.srcPos.y);
    EXPECT_EQ(host, told.dstPtr.ptr);
    EXPECT_EQ(1U, told.dstPos.y);
  }
  copy.kind = static_cast<cudaMemcpyKind>(7);
  cudaGraphNode_t none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&none, graph_, nullptr, 0, &copy));
}

TEST_F(RuntimeGraphTest, ParametersOfNodesAreReadAndChanged) {
  cudaGraphNode_t copy = nullptr;
  ASSERT_CUDA(cudaGraphAddMemcpyNode1D(&copy, graph_, nullptr, 0, At(1), At(0), 4,
                                       cudaMemcpyDeviceToDevice));
  cudaMemcpy3DParms told{};
  ASSERT_CUDA(cudaGraphMemcpyNodeGetParams(copy, &told));
  EXPECT_EQ(At(0), told.srcPtr.ptr);
  EXPECT_EQ(At(1), told.dstPtr.ptr);
  EXPECT_EQ(4U, told.extent.width);
  ASSERT_CUDA(cudaGraphMemcpyNodeSetParams1D(copy, At(2), At(0), 4, cudaMemcpyDeviceToDevice));
  ASSERT_CUDA(cudaGraphMemcpyNodeGetParams(copy, &told));
  EXPECT_EQ(At(2), told.dstPtr.ptr);
  const cudaGraphNode_t set = AddSet(graph_, At(0), 1);
  cudaMemsetParams fill{};
  ASSERT_CUDA(cudaGraphMemsetNodeGetParams(set, &fill));
  EXPECT_EQ(1U, fill.value);
  fill.value = 2;
  ASSERT_CUDA(cudaGraphMemsetNodeSetParams(set, &fill));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(copy, &fill));
  ASSERT_CUDA(cudaGraphAddDependencies(graph_, &set, &copy, nullptr, 1));
  Instantiate();
  Run();
  EXPECT_EQ(2, Word(2));
  ASSERT_CUDA(cudaGraphRemoveDependencies(graph_, &set, &copy, nullptr, 1));
}

TEST_F(RuntimeGraphTest, EdgesKeepTheirData) {
  cudaKernelNodeParams launch{};
  launch.func = &stub_;
  launch.gridDim = launch.blockDim = dim3(1);
  cudaGraphNode_t nodes[2] = {};
  for (cudaGraphNode_t& node : nodes)
    ASSERT_CUDA(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &launch));
  cudaGraphEdgeData edge{};
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  ASSERT_CUDA(cudaGraphAddDependencies(graph_, &nodes[0], &nodes[1], &edge, 1));
  cudaGraphNode_t from = nullptr;
  cudaGraphEdgeData told{};
  std::size_t count = 1;
  ASSERT_CUDA(cudaGraphNodeGetDependencies(nodes[1], &from, &told, &count));
  EXPECT_EQ(nodes[0], from);
  EXPECT_EQ(edge.from_port, told.from_port);
  EXPECT_EQ(edge.type, told.type);
}

TEST_F(RuntimeGraphTest, KernelNodesAreChangedByStub) {
  cudaKernelNodeParams launch{};
  launch.func = &stub_;
  launch.gridDim = launch.blockDim = dim3(1);
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &launch));
  cudaKernelNodeParams told{};
  ASSERT_CUDA(cudaGraphKernelNodeGetParams(node, &told));
  EXPECT_EQ(launch.func, told.func) << "the host's stub";
  EXPECT_EQ(1U, told.gridDim.x);
  told.gridDim = dim3(3);
  ASSERT_CUDA(cudaGraphKernelNodeSetParams(node, &told)) << "what was read may be set";
  Instantiate();
  launch.blockDim = dim3(64);
  EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec_, node, &launch));
  cudaKernelNodeAttrValue value{};
  value.priority = -1;
  ASSERT_CUDA(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  value.priority = 0;
  ASSERT_CUDA(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
  EXPECT_EQ(-1, value.priority);
  unsigned enabled = 1;
  ASSERT_CUDA(cudaGraphNodeSetEnabled(exec_, node, 0));
  ASSERT_CUDA(cudaGraphNodeGetEnabled(exec_, node, &enabled));
  EXPECT_EQ(0U, enabled);
}

TEST_F(RuntimeGraphTest, ExecutableGraphsChange) {
  const cudaGraphNode_t set = AddSet(graph_, At(0), 1);
  cudaGraph_t child = nullptr;
  cudaGraphNode_t inner = nullptr;
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&child, 0));
  inner = AddSet(child, At(1), 1);
  ASSERT_CUDA(cudaGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  Instantiate();
  cudaMemsetParams fill{At(0), 0, 5, 4, 1, 1};
  ASSERT_CUDA(cudaGraphExecMemsetNodeSetParams(exec_, set, &fill));
  fill.dst = At(1);
  ASSERT_CUDA(cudaGraphMemsetNodeSetParams(inner, &fill));
  ASSERT_CUDA(cudaGraphExecChildGraphNodeSetParams(exec_, node, child));
  Run();
  EXPECT_EQ(5, Word(0));
  EXPECT_EQ(5, Word(1));
  cudaGraphNodeParams wanted{};
  wanted.type = cudaGraphNodeTypeMemset;
  wanted.memset.dst = At(0);
  wanted.memset.value = 7;
  wanted.memset.elementSize = 4;
  wanted.memset.width = wanted.memset.height = 1;
  ASSERT_CUDA(cudaGraphExecNodeSetParams(exec_, set, &wanted));
  Run();
  EXPECT_EQ(7, Word(0));
  ASSERT_CUDA(cudaGraphNodeSetParams(set, &wanted));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphNodeSetParams(node, &wanted));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec_, set, nullptr));
  EXPECT_CUDA(cudaGraphDestroy(child));
}

TEST_F(RuntimeGraphTest, SymbolsAreCopiedByNodes) {
  int value = 6;
  int back = 0;
  cudaGraphNode_t in = nullptr;
  cudaGraphNode_t out = nullptr;
  ASSERT_CUDA(cudaGraphAddMemcpyNodeToSymbol(&in, graph_, nullptr, 0, &variable_, &value, 4, 8,
                                             cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&out, graph_, &in, 1, &back, &variable_, 4, 8,
                                               cudaMemcpyDeviceToHost));
  Instantiate();
  Run();
  EXPECT_EQ(6, back);
  int other = 9;
  ASSERT_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec_, in, &variable_, &other, 4, 8,
                                                       cudaMemcpyHostToDevice));
  Run();
  EXPECT_EQ(9, back);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsFromSymbol(
                                       out, &back, &variable_, 4, 62, cudaMemcpyDeviceToHost));
  EXPECT_EQ(cudaErrorInvalidSymbol,
            cudaGraphMemcpyNodeSetParamsToSymbol(in, &value, &value, 4, 0, cudaMemcpyHostToDevice));
}

TEST_F(RuntimeGraphTest, AConditionalNodeGivesItsBodyOut) {
  cudaGraphConditionalHandle handle = 0;
  ASSERT_CUDA(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams wanted{};
  wanted.type = cudaGraphNodeTypeConditional;
  wanted.conditional.handle = handle;
  wanted.conditional.type = cudaGraphCondTypeIf;
  wanted.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  ASSERT_NE(nullptr, wanted.conditional.phGraph_out);
  cudaGraph_t body = wanted.conditional.phGraph_out[0];
  ASSERT_CUDA(cudaStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0,
                                            cudaStreamCaptureModeRelaxed));
  ASSERT_CUDA(cudaMemsetAsync(At(0), 1, 4, stream_));
  cudaGraph_t captured = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(stream_, &captured));
  Instantiate();
  Run();
  EXPECT_EQ(0x01010101, Word(0));
}

TEST_F(RuntimeGraphTest, MemoryNodesAndClones) {
  cudaMemAllocNodeParams allocation{};
  allocation.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.poolProps.location = {cudaMemLocationTypeDevice, 0};
  allocation.bytesize = 1 << 20;
  cudaGraph_t memory = nullptr;
  cudaGraphNode_t alloc = nullptr;
  cudaGraphNode_t free = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&memory, 0));
  ASSERT_CUDA(cudaGraphAddMemAllocNode(&alloc, memory, nullptr, 0, &allocation));
  ASSERT_CUDA(cudaGraphAddMemFreeNode(&free, memory, &alloc, 1, allocation.dptr));
  cudaMemAllocNodeParams told{};
  void* freed = nullptr;
  ASSERT_CUDA(cudaGraphMemAllocNodeGetParams(alloc, &told));
  ASSERT_CUDA(cudaGraphMemFreeNodeGetParams(free, &freed));
  EXPECT_EQ(allocation.dptr, told.dptr);
  EXPECT_EQ(allocation.dptr, freed);
  EXPECT_CUDA(cudaGraphDestroy(memory));
  const cudaGraphNode_t set = AddSet(graph_, At(0), 1);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t found = nullptr;
  ASSERT_CUDA(cudaGraphClone(&clone, graph_));
  ASSERT_CUDA(cudaGraphNodeFindInClone(&found, set, clone));
  EXPECT_NE(nullptr, found);
  EXPECT_CUDA(cudaGraphDestroy(clone));
}

TEST_F(RuntimeGraphTest, EventAndHostNodes) {
  cudaEvent_t events[2] = {};
  for (cudaEvent_t& event : events) ASSERT_CUDA(cudaEventCreate(&event));
  cudaGraphNode_t record = nullptr;
  cudaGraphNode_t wait = nullptr;
  cudaGraphNode_t host = nullptr;
  int calls[2] = {};
  cudaHostNodeParams call{[](void* data) { ++*static_cast<int*>(data); }, &calls[0]};
  ASSERT_CUDA(cudaGraphAddEventRecordNode(&record, graph_, nullptr, 0, events[0]));
  ASSERT_CUDA(cudaGraphAddEventWaitNode(&wait, graph_, nullptr, 0, events[0]));
  ASSERT_CUDA(cudaGraphAddHostNode(&host, graph_, nullptr, 0, &call));
  Instantiate();
  call.userData = &calls[1];
  ASSERT_CUDA(cudaGraphExecHostNodeSetParams(exec_, host, &call));
  ASSERT_CUDA(cudaGraphExecEventRecordNodeSetEvent(exec_, record, events[1]));
  ASSERT_CUDA(cudaGraphExecEventWaitNodeSetEvent(exec_, wait, events[1]));
  Run();
  EXPECT_EQ(0, calls[0]);
  EXPECT_EQ(1, calls[1]);
  EXPECT_CUDA(cudaEventQuery(events[1]));
  cudaEvent_t told = nullptr;
  ASSERT_CUDA(cudaGraphEventWaitNodeSetEvent(wait, events[1]));
  ASSERT_CUDA(cudaGraphEventWaitNodeGetEvent(wait, &told));
  EXPECT_EQ(events[1], told);
  ASSERT_CUDA(cudaGraphHostNodeSetParams(host, &call));
  cudaHostNodeParams read{};
  ASSERT_CUDA(cudaGraphHostNodeGetParams(host, &read));
  EXPECT_EQ(&calls[1], read.userData);
}

TEST_F(RuntimeGraphTest, AttributesOfStreams) {
  cudaStreamAttrValue value{};
  value.syncPolicy = cudaSyncPolicyYield;
  ASSERT_CUDA(cudaStreamSetAttribute(stream_, cudaLaunchAttributeSynchronizationPolicy, &value));
  cudaStream_t other = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&other));
  ASSERT_CUDA(cudaStreamCopyAttributes(other, stream_));
  value = {};
  ASSERT_CUDA(cudaStreamGetAttribute(other, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(cudaSyncPolicyYield, value.syncPolicy);
}

}  // namespace
