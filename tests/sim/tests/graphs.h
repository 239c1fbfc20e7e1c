// An empty graph, a stream and a block of memory, as short words for tests of graphs.
#pragma once

#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {

class Graphs : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuGraphCreate(&graph_, 0));
    block_ = Alloc(4096);
    ASSERT_CUDA(cuMemsetD32(block_, 0, 1024));
    ASSERT_CUDA(cuCtxSynchronize());
  }
  // Graphs do not end with their context. Those that a test destroyed itself are refused.
  void TearDown() override {
    for (const CUgraphExec exec : execs_) cuGraphExecDestroy(exec);
    cuGraphDestroy(graph_);
    EXPECT_EQ(0U, cuheap_sim_races());
    Machine::TearDown();
  }

  // REQUIRES: it has one.
  static CUgraphNodeType TypeOfOnlyNode(CUgraph graph) {
    CUgraphNode node = nullptr;
    std::size_t count = 1;
    EXPECT_CUDA(cuGraphGetNodes(graph, &node, &count));
    CUgraphNodeType type{};
    EXPECT_CUDA(cuGraphNodeGetType(node, &type));
    return type;
  }

  static CUgraphNode AddSet(CUgraph graph, CUdeviceptr to, unsigned value,
                            std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS set{to, 0, value, 4, 1, 1};
    EXPECT_CUDA(cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &set, nullptr));
    return node;
  }
  static CUgraphNode AddAlloc(CUgraph graph, std::size_t bytes, CUdeviceptr* address) {
    CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
    wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    wanted.bytesize = bytes;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
    *address = wanted.dptr;
    return node;
  }

  static CUfunction Kernel() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleLoadData(&module, "image"));
    EXPECT_CUDA(cuModuleGetFunction(&function, module, "kernel"));
    return function;
  }
  static CUgraphNode AddKernel(CUgraph graph) {
    CUDA_KERNEL_NODE_PARAMS launch{};
    launch.func = Kernel();
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, &launch));
    return node;
  }

  CUgraphExec Instantiate(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuGraphInstantiate(&exec, graph, flags));
    execs_.push_back(exec);
    return exec;
  }
  void Run(CUgraphExec exec) {
    EXPECT_CUDA(cuGraphLaunch(exec, stream_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
  }
  unsigned Word(CUdeviceptr address) {
    unsigned value = 0;
    EXPECT_CUDA(cuMemcpyDtoHAsync(&value, address, sizeof value, stream_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
    return value;
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  CUdeviceptr block_ = 0;

 private:
  std::vector<CUgraphExec> execs_;
};

}  // namespace cuheap::sim
