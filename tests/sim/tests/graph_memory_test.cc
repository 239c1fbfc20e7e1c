// Memory of graphs: addresses from the making of a node, physical memory from the first launch to a
// trim.
#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class GraphMemoryTest : public Graphs {
 protected:
  static cuuint64_t Get(CUgraphMem_attribute attribute) {
    cuuint64_t bytes = 1;
    EXPECT_CUDA(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
  }
  static std::uint64_t Used() { return cuheap_sim_used(0, CUHEAP_SIM_GRAPH); }

  // An allocation of 3 MiB, which takes 4, and a set of its first word.
  void AddAllocation() {
    alloc_ = AddAlloc(graph_, 3 * kMiB, &address_);
    set_ = AddSet(graph_, address_, 7, {alloc_});
  }
  void AddFree() {
    CUgraphNode free = nullptr;
    ASSERT_CUDA(cuGraphAddMemFreeNode(&free, graph_, &set_, 1, address_));
  }

  CUdeviceptr address_ = 0;
  CUgraphNode alloc_ = nullptr;
  CUgraphNode set_ = nullptr;
};

TEST_F(GraphMemoryTest, PhysicalMemoryComesWithTheFirstLaunchAndStaysUntilATrim) {
  AddAllocation();
  AddFree();
  EXPECT_NE(0U, address_);
  EXPECT_EQ(0U, Used());
  const CUgraphExec exec = Instantiate(graph_);
  EXPECT_EQ(0U, Used());
  Run(exec);
  EXPECT_EQ(4 * kMiB, Used());
  EXPECT_CUDA(cuDeviceGraphMemTrim(0));
  EXPECT_EQ(0U, Used());
  Run(exec);
  EXPECT_EQ(4 * kMiB, Used());
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  EXPECT_EQ(4 * kMiB, Used()) << "the device keeps it for other graphs";
  EXPECT_CUDA(cuDeviceGraphMemTrim(0));
  EXPECT_EQ(0U, Used());
}

TEST_F(GraphMemoryTest, AnUploadTakesThePhysicalMemory) {
  AddAllocation();
  AddFree();
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuGraphUpload(exec, stream_));
  EXPECT_EQ(4 * kMiB, Used());
}

TEST_F(GraphMemoryTest, TheMostIsRememberedUntilItIsForgotten) {
  cuuint64_t zero = 0;
  ASSERT_CUDA(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  ASSERT_CUDA(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
  AddAllocation();
  AddFree();
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_EQ(4 * kMiB, Get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(4 * kMiB, Get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  EXPECT_EQ(0U, Get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)) << "no graph has it";
  EXPECT_EQ(4 * kMiB, Get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_EQ(4 * kMiB, Get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
  ASSERT_CUDA(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  EXPECT_EQ(0U, Get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
  EXPECT_EQ(4 * kMiB, Get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
  cuuint64_t number = 8;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &number));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
}

TEST_F(GraphMemoryTest, WhatIsNotFreedInTheGraphIsFreedAfterIt) {
  AddAllocation();
  const CUgraphExec exec = Instantiate(graph_);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(address_, stream_)) << "not launched";
  Run(exec);
  EXPECT_EQ(7U, Word(address_));
  EXPECT_EQ(3 * kMiB, cuheap_sim_live_bytes(0, CUHEAP_SIM_GRAPH));
  EXPECT_CUDA(cuDeviceGraphMemTrim(0));
  EXPECT_EQ(4 * kMiB, Used()) << "in use";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream_)) << "not freed";
  EXPECT_CUDA(cuMemFreeAsync(address_, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(address_, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32Async(address_, 1, 1, stream_));
  Run(exec);
  EXPECT_CUDA(cuMemFree(address_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(address_));
  EXPECT_EQ(0U, cuheap_sim_live_bytes(0, CUHEAP_SIM_GRAPH));
}

TEST_F(GraphMemoryTest, AnUnfreedAllocationOutlivesItsGraphs) {
  AddAllocation();
  const CUgraphExec exec = Instantiate(graph_);
  Run(exec);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph_));
  EXPECT_EQ(7U, Word(address_));
  EXPECT_CUDA(cuMemFreeAsync(address_, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(address_));
}

TEST_F(GraphMemoryTest, ALaunchMayFreeWhatTheLastOneLeft) {
  AddAllocation();
  const CUgraphExec exec = Instantiate(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  Run(exec);
  Run(exec);
  EXPECT_EQ(7U, Word(address_));
  EXPECT_EQ(1U, cuheap_sim_live_blocks(0, CUHEAP_SIM_GRAPH));
  EXPECT_CUDA(cuMemFree(address_));
}

TEST_F(GraphMemoryTest, AnotherGraphMayFree) {
  AddAllocation();
  CUgraph other = nullptr;
  CUgraphNode free = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  ASSERT_CUDA(cuGraphAddMemFreeNode(&free, other, nullptr, 0, address_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, graph_, &set_, 1, address_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, other, nullptr, 0, address_));
  const CUgraphExec exec = Instantiate(graph_);
  const CUgraphExec freeing = Instantiate(other);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(freeing, stream_)) << "nothing to free";
  Run(exec);
  Run(freeing);
  EXPECT_EQ(0U, cuheap_sim_live_blocks(0, CUHEAP_SIM_GRAPH));
  Run(exec);
  Run(freeing);
}

TEST_F(GraphMemoryTest, FreedInItsGraphItIsFreedNowhereElse) {
  AddAllocation();
  AddFree();
  CUgraph other = nullptr;
  CUgraphNode free = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, graph_, &set_, 1, address_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, other, nullptr, 0, address_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphAddMemFreeNode(&free, other, nullptr, 0, address_ + 512));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, other, nullptr, 0, block_));
  Run(Instantiate(graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(address_, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(address_));
}

TEST_F(GraphMemoryTest, GraphsWithMemoryAreNotCopiedNorTakenApart) {
  AddAllocation();
  CUgraph clone = nullptr;
  CUgraph parent = nullptr;
  CUgraphNode child = nullptr;
  CUgraphExec second = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphClone(&clone, graph_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(set_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphRemoveDependencies(graph_, &alloc_, &set_, nullptr, 1));
  ASSERT_CUDA(cuGraphCreate(&parent, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph_));
  const CUgraphExec exec = Instantiate(graph_);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, graph_, 0));
  EXPECT_EQ(nullptr, second);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphInstantiate(&second, graph_, 0));
}

TEST_F(GraphMemoryTest, UseAfterTheFreeInAGraphIsAnIllegalAddress) {
  AddAllocation();
  CUgraphNode free = nullptr;
  ASSERT_CUDA(cuGraphAddMemFreeNode(&free, graph_, &set_, 1, address_));
  AddSet(graph_, address_, 8, {free});
  const CUgraphExec exec = Instantiate(graph_);
  cuGraphLaunch(exec, stream_);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream_));
  cuheap_sim_forget_races();
}

TEST_F(GraphMemoryTest, ALaunchWithoutPhysicalMemoryChangesNothing) {
  alloc_ = AddAlloc(graph_, 3 * kGiB, &address_);
  const CUgraphExec exec = Instantiate(graph_);
  const CUdeviceptr hog = Alloc(2 * kGiB);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuGraphLaunch(exec, stream_));
  EXPECT_EQ(0U, cuheap_sim_live_blocks(0, CUHEAP_SIM_GRAPH));
  EXPECT_CUDA(cuMemFree(hog));
  Run(exec);
  EXPECT_CUDA(cuMemFree(address_));
}

TEST_F(GraphMemoryTest, ANodeTellsItsParameters) {
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 1},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
  wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.accessDescs = &access;
  wanted.accessDescCount = 1;
  wanted.bytesize = 1000;
  ASSERT_CUDA(cuGraphAddMemAllocNode(&alloc_, graph_, nullptr, 0, &wanted));
  CUDA_MEM_ALLOC_NODE_PARAMS told{};
  ASSERT_CUDA(cuGraphMemAllocNodeGetParams(alloc_, &told));
  EXPECT_EQ(wanted.dptr, told.dptr);
  EXPECT_EQ(1000U, told.bytesize);
  ASSERT_EQ(1U, told.accessDescCount);
  EXPECT_EQ(1, told.accessDescs[0].location.id);
  CUDA_MEM_ALLOC_NODE_PARAMS none = wanted;
  none.bytesize = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&alloc_, graph_, nullptr, 0, &none));
  EXPECT_EQ(wanted.dptr, none.dptr) << "untouched";
}

TEST_F(GraphMemoryTest, PropertiesThatGraphsHaveNotAreRefused) {
  CUmemAccessDesc access[3] = {};
  for (CUmemAccessDesc& one : access) {
    one.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
  wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.bytesize = 1000;
  wanted.accessDescs = access;
  const auto add = [&] { return cuGraphAddMemAllocNode(&alloc_, graph_, nullptr, 0, &wanted); };
  wanted.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add()) << "no processes share them";
  wanted.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  wanted.accessDescCount = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add()) << "more than there are devices";
  wanted.accessDescCount = 2;
  access[1].location.id = 99;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, add());
  access[1].location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add());
  access[1] = access[0];
  access[1].flags = static_cast<CUmemAccess_flags>(2);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add());
  CUgraphNodeParams node{};
  node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  node.alloc.poolProps = wanted.poolProps;
  node.alloc.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  node.alloc.bytesize = 1000;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&alloc_, graph_, nullptr, nullptr, 0, &node));
  EXPECT_EQ(0U, wanted.dptr);
  wanted.accessDescCount = 1;
  EXPECT_CUDA(add());
}

TEST_F(GraphMemoryTest, ANodeBehindTheEndOfAPooledBlockIsAnIllegalAddress) {
  CUdeviceptr block = 0;
  CUdeviceptr neighbour = 0;
  ASSERT_CUDA(cuMemAllocAsync(&block, 4096, stream_));
  ASSERT_CUDA(cuMemAllocAsync(&neighbour, 4096, stream_));
  CUgraphNode node = nullptr;
  const CUDA_MEMSET_NODE_PARAMS set{
      .dst = block, .pitch = 0, .value = 1, .elementSize = 1, .width = 4097, .height = 1};
  ASSERT_CUDA(cuGraphAddMemsetNode(&node, graph_, nullptr, 0, &set, context_));
  cuGraphLaunch(Instantiate(graph_), stream_);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream_));
  // The pool outlives the context that is lost.
  ASSERT_CUDA(cuDevicePrimaryCtxReset(0));
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
  EXPECT_CUDA(cuMemFreeAsync(block, nullptr));
  EXPECT_CUDA(cuMemFreeAsync(neighbour, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
}

// On a device the replay would overwrite what lies there now, and nobody would say so.
TEST_F(GraphMemoryTest, MemoryThatWasFreedAndGivenOutAgainIsNotTheGraphs) {
  const CUdeviceptr before = Alloc(4096);
  AddSet(graph_, before, 9);
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  ASSERT_CUDA(cuMemFree(before));
  const CUdeviceptr now = Alloc(4096);
  ASSERT_EQ(before, now);
  cuGraphLaunch(exec, stream_);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream_));
}

TEST_F(GraphMemoryTest, ANodeThatIsToldAnewMeansTheMemoryOfThatTime) {
  const CUdeviceptr before = Alloc(4096);
  const CUgraphNode node = AddSet(graph_, before, 9);
  ASSERT_CUDA(cuMemFree(before));
  const CUdeviceptr now = Alloc(4096);
  ASSERT_EQ(before, now);
  CUDA_MEMSET_NODE_PARAMS set{};
  ASSERT_CUDA(cuGraphMemsetNodeGetParams(node, &set));
  ASSERT_CUDA(cuGraphMemsetNodeSetParams(node, &set));
  ASSERT_CUDA(cuGraphLaunch(Instantiate(graph_), stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuMemFree(now));
}

}  // namespace
}  // namespace cuheap::sim
