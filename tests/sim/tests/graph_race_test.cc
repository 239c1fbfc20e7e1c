// The race oracle sees what stands inside the nodes of graphs, in the order of their edges.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphRaceTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    cuheap_sim_forget_races();
  }
  void TearDown() override {
    cuheap_sim_forget_races();
    Graphs::TearDown();
  }
  CUgraph* AddConditional(CUgraphConditionalNodeType type, unsigned size) {
    CUgraphNodeParams wanted{};
    wanted.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    wanted.conditional = {0, type, size, nullptr, context_};
    EXPECT_CUDA(cuGraphConditionalHandleCreate(&wanted.conditional.handle, graph_, context_, 0,
                                               CU_GRAPH_COND_ASSIGN_DEFAULT));
    EXPECT_CUDA(cuGraphAddNode(&node_, graph_, nullptr, nullptr, 0, &wanted));
    return wanted.conditional.phGraph_out;
  }
  std::uint64_t RacesOfRun() {
    Run(Instantiate(graph_));
    return cuheap_sim_races();
  }

  CUgraphNode AddRecord(CUgraph graph, CUevent event, CUgraphNode after) {
    EXPECT_CUDA(cuGraphAddEventRecordNode(&node_, graph, &after, 1, event));
    return node_;
  }
  // The races that a set of a word in another stream, after what is in `event`, has.
  std::uint64_t RacesOfSetAfter(CUevent event, CUdeviceptr to) {
    cuheap_sim_forget_races();
    CUstream other = nullptr;
    EXPECT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    EXPECT_CUDA(cuStreamWaitEvent(other, event, 0));
    EXPECT_CUDA(cuMemsetD32Async(to, 9, 1, other));
    const std::uint64_t races = cuheap_sim_races();
    cuheap_sim_forget_races();
    return races;
  }

  CUgraphNode node_ = nullptr;
};

TEST_F(GraphRaceTest, BranchesOfAChildRace) {
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  const CUgraphNode first = AddSet(child, block_, 1);
  const CUgraphNode second = AddSet(child, block_, 2);
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node_, graph_, nullptr, 0, child));
  EXPECT_EQ(1U, RacesOfRun());
  cuheap_sim_forget_races();
  ASSERT_CUDA(cuGraphAddDependencies(child, &first, &second, nullptr, 1));
  ASSERT_CUDA(cuGraphDestroyNode(node_));
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node_, graph_, nullptr, 0, child));
  EXPECT_EQ(0U, RacesOfRun());
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphRaceTest, ABodyRacesWithWhatTheNodeIsNotOrderedWith) {
  CUgraph* bodies = AddConditional(CU_GRAPH_COND_TYPE_IF, 1);
  AddSet(bodies[0], block_, 1);
  AddSet(graph_, block_, 2);
  EXPECT_EQ(1U, RacesOfRun()) << "whether or not the body runs this time";
}

TEST_F(GraphRaceTest, TheBodiesOfANodeDoNotRaceWithEachOther) {
  CUgraph* bodies = AddConditional(CU_GRAPH_COND_TYPE_IF, 2);
  AddSet(bodies[0], block_, 1);
  AddSet(bodies[1], block_, 2);
  AddSet(graph_, block_, 3, {node_});
  EXPECT_EQ(0U, RacesOfRun());
}

TEST_F(GraphRaceTest, UseThatItsAllocationDoesNotComeBeforeIsARace) {
  CUdeviceptr address = 0;
  const CUgraphNode alloc = AddAlloc(graph_, 512, &address);
  AddSet(graph_, address, 1, {alloc});
  AddSet(graph_, address + 256, 1);
  EXPECT_EQ(1U, RacesOfRun());
  EXPECT_CUDA(cuMemFree(address));
}

TEST_F(GraphRaceTest, UseThatIsNotOrderedBeforeTheFreeIsARace) {
  CUdeviceptr address = 0;
  CUgraphNode free = nullptr;
  const CUgraphNode alloc = AddAlloc(graph_, 512, &address);
  AddSet(graph_, address, 1, {alloc});
  ASSERT_CUDA(cuGraphAddMemFreeNode(&free, graph_, &alloc, 1, address));
  EXPECT_EQ(1U, RacesOfRun());
}

TEST_F(GraphRaceTest, UseInAnotherStreamNeedsOrderAfterTheLaunch) {
  CUdeviceptr address = 0;
  AddAlloc(graph_, 512, &address);
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuMemsetD32Async(address, 1, 1, other));
  EXPECT_EQ(1U, cuheap_sim_races());
  cuheap_sim_forget_races();
  ASSERT_CUDA(cuMemFreeAsync(address, stream_));
  EXPECT_EQ(1U, cuheap_sim_races()) << "the use in the other stream";
  cuCtxSynchronize();  // that use may come too late
}

TEST_F(GraphRaceTest, LaunchesOfOneExecutableGraphAreOrdered) {
  AddSet(graph_, block_, 1);
  const CUgraphExec exec = Instantiate(graph_);
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuGraphLaunch(exec, other));
  EXPECT_EQ(0U, cuheap_sim_races());
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(GraphRaceTest, EventsOfNodesOrderStreams) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const CUgraphNode set = AddSet(graph_, block_, 1);
  ASSERT_CUDA(cuGraphAddEventRecordNode(&node_, graph_, &set, 1, event));
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  ASSERT_CUDA(cuStreamWaitEvent(other, event, 0));
  ASSERT_CUDA(cuMemsetD32Async(block_, 2, 1, other));
  ASSERT_CUDA(cuEventRecord(event, other));
  CUgraph waiting = nullptr;
  ASSERT_CUDA(cuGraphCreate(&waiting, 0));
  ASSERT_CUDA(cuGraphAddEventWaitNode(&node_, waiting, nullptr, 0, event));
  AddSet(waiting, block_, 3, {node_});
  ASSERT_CUDA(cuGraphLaunch(Instantiate(waiting), stream_));
  EXPECT_EQ(0U, cuheap_sim_races());
  EXPECT_EQ(3U, Word(block_));
  EXPECT_CUDA(cuGraphDestroy(waiting));
}

TEST_F(GraphRaceTest, ARecordOrdersWhatIsBeforeItsNodeAndNothingElse) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const CUgraphNode first = AddSet(graph_, block_, 1);
  const CUgraphNode second = AddSet(graph_, block_ + 512, 2, {first});
  const CUgraphNode record = AddRecord(graph_, event, second);
  AddSet(graph_, block_ + 1024, 3, {record});
  AddSet(graph_, block_ + 1536, 4, {first});
  AddSet(graph_, block_ + 2048, 5);
  ASSERT_CUDA(cuMemsetD32Async(block_ + 2560, 6, 1, stream_));
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  EXPECT_EQ(0U, cuheap_sim_races());
  EXPECT_EQ(0U, RacesOfSetAfter(event, block_));
  EXPECT_EQ(0U, RacesOfSetAfter(event, block_ + 512));
  EXPECT_EQ(1U, RacesOfSetAfter(event, block_ + 1024)) << "behind it";
  EXPECT_EQ(1U, RacesOfSetAfter(event, block_ + 1536)) << "beside it";
  EXPECT_EQ(1U, RacesOfSetAfter(event, block_ + 2048)) << "in another branch";
  EXPECT_EQ(0U, RacesOfSetAfter(event, block_ + 2560)) << "before the launch";
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(GraphRaceTest, ARecordInAChildOrdersWhatIsBeforeItThere) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  AddSet(child, block_ + 512, 1, {AddRecord(child, event, AddSet(child, block_, 1))});
  const CUgraphNode before = AddSet(graph_, block_ + 1024, 1);
  ASSERT_CUDA(cuGraphAddChildGraphNode(&node_, graph_, &before, 1, child));
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  EXPECT_EQ(0U, RacesOfSetAfter(event, block_));
  EXPECT_EQ(1U, RacesOfSetAfter(event, block_ + 512));
  EXPECT_EQ(0U, RacesOfSetAfter(event, block_ + 1024));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuGraphDestroy(child));
}

TEST_F(GraphRaceTest, AWaitOrdersWhatIsBehindItsNodeAndNothingElse) {
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuMemsetD32Async(block_, 1, 1, other));
  ASSERT_CUDA(cuMemsetD32Async(block_ + 512, 1, 1, other));
  ASSERT_CUDA(cuMemsetD32Async(block_ + 1024, 1, 1, other));
  ASSERT_CUDA(cuMemsetD32Async(block_ + 1536, 1, 1, other));
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuEventRecord(event, other));
  const CUgraphNode before = AddSet(graph_, block_, 2);
  ASSERT_CUDA(cuGraphAddEventWaitNode(&node_, graph_, &before, 1, event));
  AddSet(graph_, block_ + 512, 3, {node_});
  AddSet(graph_, block_ + 1024, 4, {before});
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  EXPECT_EQ(2U, cuheap_sim_races()) << "before the wait, and beside it";
  cuheap_sim_forget_races();
  ASSERT_CUDA(cuMemsetD32Async(block_ + 1536, 5, 1, stream_));
  EXPECT_EQ(0U, cuheap_sim_races()) << "the stream comes after the whole launch";
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(GraphRaceTest, WhoWaitedForARecordKnowsWhatIsBeforeIt) {
  CUevent event = nullptr;
  CUevent nothing = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuEventCreate(&nothing, CU_EVENT_DISABLE_TIMING));
  AddSet(graph_, block_ + 512, 2, {AddRecord(graph_, event, AddSet(graph_, block_, 1))});
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_EQ(0U, RacesOfSetAfter(nothing, block_));
  EXPECT_EQ(1U, RacesOfSetAfter(nothing, block_ + 512));
  EXPECT_CUDA(cuCtxSynchronize());
}

}  // namespace
}  // namespace cuheap::sim
