// What kernel nodes and streams are told beside their work, edges, and graphs as files.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphAttributesTest : public Graphs {};

TEST_F(GraphAttributesTest, AttributesOfKernelNodesAreKept) {
  const CUgraphNode node = AddKernel(graph_);
  const CUgraphNode other = AddKernel(graph_);
  CUkernelNodeAttrValue value{};
  value.cooperative = 1;
  ASSERT_CUDA(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  ASSERT_CUDA(cuGraphKernelNodeCopyAttributes(other, node));
  value = {};
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT_EQ(1, value.cooperative);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphKernelNodeGetAttribute(
                node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value));
  const CUgraphNode set = AddSet(graph_, block_, 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphKernelNodeGetAttribute(set, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
}

TEST_F(GraphAttributesTest, AttributesOfStreamsAreKeptAndCaptured) {
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  ASSERT_CUDA(cuStreamSetAttribute(stream_, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value = {};
  value.priority = -100;
  ASSERT_CUDA(cuStreamSetAttribute(stream_, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuStreamCopyAttributes(other, stream_));
  ASSERT_CUDA(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_EQ(CU_SYNC_POLICY_SPIN, value.syncPolicy);
  int priority = 0;
  ASSERT_CUDA(cuStreamGetPriority(other, &priority));
  EXPECT_EQ(-5, priority) << "clamped";
  value.accessPolicyWindow = {nullptr, 64, 2, CU_ACCESS_PROPERTY_NORMAL, CU_ACCESS_PROPERTY_NORMAL};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuStreamSetAttribute(stream_, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuStreamGetAttribute(stream_, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(other, graph_, nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuLaunchKernel(Kernel(), 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr));
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(other, &captured));
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(cuGraphGetNodes(graph_, &node, &count));
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(-5, value.priority);
}

TEST_F(GraphAttributesTest, ACapturedLaunchKeepsItsOwn) {
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[0].value.priority = -3;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;  // of no node
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, stream_, attributes, 2};
  const CUfunction function = Kernel();
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuLaunchKernelEx(&config, function, nullptr, nullptr));
  ASSERT_CUDA(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  CUgraphNode nodes[2] = {};
  std::size_t count = 2;
  ASSERT_CUDA(cuGraphGetNodes(captured, nodes, &count));
  ASSERT_EQ(2U, count);
  CUkernelNodeAttrValue value{};
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(-3, value.priority);
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(nodes[0], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT_EQ(0, value.cooperative);
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(nodes[1], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT_EQ(1, value.cooperative);
  EXPECT_CUDA(cuGraphDestroy(captured));
  config.attrs = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, function, nullptr, nullptr));
}

TEST_F(GraphAttributesTest, ADotFileHasNodesAndEdges) {
  const CUgraphNode kernel = AddKernel(graph_);
  AddSet(graph_, block_, 1, {kernel});
  const std::string path = ::testing::TempDir() + "/cuheap_graph.dot";
  ASSERT_CUDA(cuGraphDebugDotPrint(graph_, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(0U, text.find("digraph"));
  for (const char* part : {"KERNEL", "MEMSET", "kernel", "->", "value 1"})
    EXPECT_NE(std::string::npos, text.find(part)) << part << " in " << text;
  std::remove(path.c_str());
  EXPECT_EQ(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph_, "/nowhere/at/all", 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDebugDotPrint(graph_, nullptr, 0));
}

TEST_F(GraphAttributesTest, AGraphLaunchedIntoACaptureIsAChild) {
  AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_GRAPH, TypeOfOnlyNode(captured));
  EXPECT_EQ(0U, Word(block_));
  Run(Instantiate(captured));
  EXPECT_EQ(1U, Word(block_));
  EXPECT_CUDA(cuGraphDestroy(captured));
}

}  // namespace
}  // namespace cuheap::sim
