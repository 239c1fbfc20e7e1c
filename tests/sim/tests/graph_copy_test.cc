// Copies in graphs: what their nodes tell, and what may become of them.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphCopyTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_CUDA(cuMemAllocHost(&pinned_, 4096));
  }
  static CUDA_MEMCPY3D Row(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = 4;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  CUgraphNode AddCopy(const CUDA_MEMCPY3D& copy) {
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddMemcpyNode(&node, graph_, nullptr, 0, &copy, context_));
    return node;
  }
  static CUDA_MEMCPY3D Told(CUgraphNode node) {
    CUDA_MEMCPY3D told{};
    EXPECT_CUDA(cuGraphMemcpyNodeGetParams(node, &told));
    return told;
  }
  static CUdeviceptr AddressOf(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

  void* pinned_ = nullptr;
};

TEST_F(GraphCopyTest, ANodeTellsWhatItWasGiven) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = block_;
  copy.srcXInBytes = 16;
  copy.srcY = 1;
  copy.srcPitch = 128;
  copy.srcHeight = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = pinned_;
  copy.dstPitch = 64;
  copy.dstHeight = 4;
  copy.WidthInBytes = 32;
  copy.Height = 2;
  copy.Depth = 1;
  const CUgraphNode node = AddCopy(copy);
  CUDA_MEMCPY3D told = Told(node);
  EXPECT_EQ(0, std::memcmp(&copy, &told, sizeof copy));
  copy.srcXInBytes = 32;
  ASSERT_CUDA(cuGraphMemcpyNodeSetParams(node, &copy));
  CUgraph clone = nullptr;
  CUgraphNode twin = nullptr;
  ASSERT_CUDA(cuGraphClone(&clone, graph_));
  ASSERT_CUDA(cuGraphNodeFindInClone(&twin, node, clone));
  told = Told(twin);
  EXPECT_EQ(0, std::memcmp(&copy, &told, sizeof copy));
  EXPECT_CUDA(cuGraphDestroy(clone));
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  wanted.memcpy.copyCtx = context_;
  wanted.memcpy.copyParams = copy;
  CUgraphNode other = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&other, graph_, nullptr, nullptr, 0, &wanted));
  told = Told(other);
  EXPECT_EQ(0, std::memcmp(&copy, &told, sizeof copy));
}

TEST_F(GraphCopyTest, ACapturedCopyTellsItsAddresses) {
  CUgraph captured = nullptr;
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuMemcpyDtoDAsync(block_ + 64, block_, 4, stream_));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  ASSERT_CUDA(cuGraphGetNodes(captured, &node, &count));
  const CUDA_MEMCPY3D told = Told(node);
  EXPECT_EQ(block_, told.srcDevice);
  EXPECT_EQ(block_ + 64, told.dstDevice);
  EXPECT_EQ(4U, told.WidthInBytes);
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(GraphCopyTest, AGraphForTheDeviceCopiesDeviceAndPinnedMemoryOnly) {
  unsigned pageable[1] = {};
  CUDA_GRAPH_INSTANTIATE_PARAMS wanted{};
  wanted.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  CUgraphExec exec = nullptr;
  const CUgraphNode node = AddCopy(Row(block_, AddressOf(pinned_)));
  ASSERT_CUDA(cuGraphInstantiateWithParams(&exec, graph_, &wanted));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  const auto expect_refused = [&](const CUDA_MEMCPY3D& copy) {
    ASSERT_CUDA(cuGraphMemcpyNodeSetParams(node, &copy));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph_, &wanted));
    EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, wanted.result_out);
    EXPECT_EQ(node, wanted.hErrNode_out);
  };
  expect_refused(Row(block_, AddressOf(pageable)));
  CUDA_ARRAY_DESCRIPTOR shape{4, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1};
  CUarray array = nullptr;
  ASSERT_CUDA(cuArrayCreate(&array, &shape));
  CUDA_MEMCPY3D copy = Row(block_, 0);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  expect_refused(copy);
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(GraphCopyTest, AGraphForTheDeviceHasWork) {
  CUgraph child = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child));
  CUDA_GRAPH_INSTANTIATE_PARAMS wanted{};
  wanted.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph_, &wanted));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, wanted.result_out);
  CUgraph inside = nullptr;
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(node, &inside));
  AddSet(inside, block_, 1);
  EXPECT_CUDA(cuGraphInstantiateWithParams(&exec, graph_, &wanted));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphCopyTest, ADotFileHasTheDirections) {
  AddCopy(Row(block_, AddressOf(pinned_)));
  AddCopy(Row(block_, block_ + 64));
  CUDA_MEMCPY3D up = Row(block_, 0);
  up.dstMemoryType = CU_MEMORYTYPE_HOST;
  up.dstHost = pinned_;
  up.srcDevice = block_;
  AddCopy(up);
  const std::string path = ::testing::TempDir() + "/cuheap_copies.dot";
  ASSERT_CUDA(cuGraphDebugDotPrint(graph_, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const char* part : {"HtoD", "DtoD", "DtoH"})
    EXPECT_NE(std::string::npos, text.find(part)) << part << " in " << text;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cuheap::sim
