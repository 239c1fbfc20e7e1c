// Edges with ports and types: programmatic launches and the order of launches, between kernels.
#include <array>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

constexpr CUgraphEdgeData kPlain{};
constexpr CUgraphEdgeData kProgrammatic{
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};
constexpr CUgraphEdgeData kLaunchOrder{
    CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, 0, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, {}};

class GraphEdgesTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    first_ = AddKernel(graph_);
    second_ = AddKernel(graph_);
    set_ = AddSet(graph_, block_, 1);
  }
  CUresult Add(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData& edge) {
    return cuGraphAddDependencies(graph_, &from, &to, &edge, 1);
  }
  CUresult Remove(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData* edge) {
    return cuGraphRemoveDependencies(graph_, &from, &to, edge, 1);
  }
  static std::size_t EdgesOf(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CUDA(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
  }
  static bool AreSame(const CUgraphEdgeData& one, const CUgraphEdgeData& other) {
    return one.from_port == other.from_port && one.to_port == other.to_port &&
           one.type == other.type;
  }
  static CUresult LaunchTouching(CUstream stream, CUdeviceptr block, bool writes) {
    const cuheap_sim_range range{block, 512, writes ? 1 : 0};
    return static_cast<CUresult>(cuheap_sim_launch(stream, "kernel", &range, 1));
  }
  // The graph of two kernels that touch the same memory, with such an edge between them.
  void CaptureWith(const CUgraphEdgeData& edge, CUgraph* out) {
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(LaunchTouching(stream_, block_, true));
    CUstreamCaptureStatus status{};
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    ASSERT_CUDA(cuStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, &edges, &count));
    ASSERT_EQ(1U, count);
    EXPECT_TRUE(AreSame(kPlain, edges[0]));
    CUgraphNode node = nodes[0];
    ASSERT_CUDA(cuStreamUpdateCaptureDependencies(stream_, &node, &edge, 1,
                                                  CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    EXPECT_EQ(AreSame(edge, kPlain) ? CUDA_SUCCESS : CUDA_ERROR_LOSSY_QUERY,
              cuStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, nullptr, &count));
    ASSERT_CUDA(cuStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, &edges, &count));
    EXPECT_TRUE(AreSame(edge, edges[0]));
    ASSERT_CUDA(LaunchTouching(stream_, block_, false));
    ASSERT_CUDA(cuStreamEndCapture(stream_, out));
  }

  CUgraphNode first_ = nullptr;
  CUgraphNode second_ = nullptr;
  CUgraphNode set_ = nullptr;
};

TEST_F(GraphEdgesTest, PortsAndTypesAreForKernels) {
  EXPECT_CUDA(Add(first_, second_, kProgrammatic));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Add(first_, second_, kPlain)) << "there is one";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Add(set_, second_, kProgrammatic));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Add(set_, second_, kLaunchOrder));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Add(first_, set_, kProgrammatic));
  EXPECT_CUDA(Add(first_, set_, kLaunchOrder));
  const auto refused = [&](unsigned char from_port, unsigned char to_port, unsigned char type) {
    return Add(second_, set_, {from_port, to_port, type, {}}) == CUDA_ERROR_INVALID_VALUE;
  };
  EXPECT_TRUE(refused(3, 0, 0));
  EXPECT_TRUE(refused(0, 1, 0));
  EXPECT_TRUE(refused(0, 0, 1)) << "without a port";
  EXPECT_TRUE(refused(1, 0, 0)) << "without its type";
  EXPECT_TRUE(refused(2, 0, 7));
  EXPECT_EQ(2U, EdgesOf(graph_));
}

TEST_F(GraphEdgesTest, DataIsToldToThoseWhoAskAndMissedByOthers) {
  ASSERT_CUDA(Add(first_, second_, kProgrammatic));
  ASSERT_CUDA(Add(second_, set_, kPlain));
  std::array<CUgraphNode, 3> from{};
  std::array<CUgraphNode, 3> to{};
  std::array<CUgraphEdgeData, 3> edges{kLaunchOrder, kLaunchOrder, kLaunchOrder};
  std::size_t count = 3;
  EXPECT_EQ(CUDA_ERROR_LOSSY_QUERY,
            cuGraphGetEdges(graph_, from.data(), to.data(), nullptr, &count));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphGetEdges(graph_, nullptr, nullptr, edges.data(), &count));
  EXPECT_EQ(3U, count);
  ASSERT_CUDA(cuGraphGetEdges(graph_, from.data(), to.data(), edges.data(), &count));
  EXPECT_EQ(2U, count);
  EXPECT_EQ(first_, from[0]);
  EXPECT_EQ(second_, to[0]);
  EXPECT_TRUE(AreSame(kProgrammatic, edges[0]));
  EXPECT_TRUE(AreSame(kPlain, edges[1]));
  EXPECT_EQ(nullptr, from[2]);
  count = 1;
  EXPECT_EQ(CUDA_ERROR_LOSSY_QUERY,
            cuGraphNodeGetDependencies(second_, from.data(), nullptr, &count));
  ASSERT_CUDA(cuGraphNodeGetDependencies(second_, from.data(), edges.data(), &count));
  EXPECT_TRUE(AreSame(kProgrammatic, edges[0]));
  EXPECT_EQ(CUDA_ERROR_LOSSY_QUERY,
            cuGraphNodeGetDependentNodes(first_, to.data(), nullptr, &count));
  ASSERT_CUDA(cuGraphNodeGetDependentNodes(first_, to.data(), edges.data(), &count));
  EXPECT_EQ(second_, to[0]);
  EXPECT_TRUE(AreSame(kProgrammatic, edges[0]));
  EXPECT_CUDA(cuGraphNodeGetDependentNodes(second_, to.data(), nullptr, &count));
}

TEST_F(GraphEdgesTest, AnEdgeIsRemovedByItsDataAndCopiedWithIt) {
  ASSERT_CUDA(Add(first_, second_, kProgrammatic));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Remove(first_, second_, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Remove(first_, second_, &kLaunchOrder));
  CUgraph copy = nullptr;
  CUgraphNode twin = nullptr;
  ASSERT_CUDA(cuGraphClone(&copy, graph_));
  ASSERT_CUDA(cuGraphNodeFindInClone(&twin, second_, copy));
  CUgraphNode before = nullptr;
  CUgraphEdgeData edge{};
  std::size_t count = 1;
  ASSERT_CUDA(cuGraphNodeGetDependencies(twin, &before, &edge, &count));
  EXPECT_TRUE(AreSame(kProgrammatic, edge));
  EXPECT_CUDA(cuGraphDestroy(copy));
  const CUgraphExec exec = Instantiate(graph_);
  EXPECT_CUDA(Remove(first_, second_, &kProgrammatic));
  EXPECT_CUDA(Add(first_, second_, kPlain));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph_, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
}

TEST_F(GraphEdgesTest, ANodeIsAddedWithItsEdges) {
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_KERNEL;
  wanted.kernel.func = Kernel();
  wanted.kernel.gridDimX = wanted.kernel.gridDimY = wanted.kernel.gridDimZ = 1;
  wanted.kernel.blockDimX = wanted.kernel.blockDimY = wanted.kernel.blockDimZ = 1;
  const std::array after{first_, second_};
  const std::array edges{kProgrammatic, kLaunchOrder};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, after.data(), edges.data(), 2, &wanted));
  EXPECT_EQ(2U, EdgesOf(graph_));
  CUgraphNode other = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphAddNode(&other, graph_, &set_, edges.data(), 1, &wanted));
  EXPECT_EQ(nullptr, other);
  EXPECT_CUDA(Remove(second_, node, &kLaunchOrder));
  EXPECT_EQ(1U, EdgesOf(graph_));
}

TEST_F(GraphEdgesTest, OrderOfLaunchesOrdersNoMemory) {
  const std::array cases{std::pair(kPlain, 0U), std::pair(kProgrammatic, 0U),
                         std::pair(kLaunchOrder, 1U)};
  for (const auto& [edge, races] : cases) {
    CUgraph captured = nullptr;
    CaptureWith(edge, &captured);
    cuheap_sim_forget_races();
    Run(Instantiate(captured));
    EXPECT_EQ(races, cuheap_sim_races()) << int{edge.from_port};
    cuheap_sim_forget_races();
    EXPECT_CUDA(cuGraphDestroy(captured));
  }
}

}  // namespace
}  // namespace cuheap::sim
