// Values that streams wait for and write: under every clock a wait holds back what comes after it,
// and nothing else.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class MemoryOperationTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_CUDA(cuStreamCreate(&side_, CU_STREAM_NON_BLOCKING));
    void* host = nullptr;
    ASSERT_CUDA(cuMemHostAlloc(&host, 4096, 0));
    flag_ = static_cast<unsigned*>(host);
    *flag_ = 0;
  }
  CUdeviceptr Flag() const { return reinterpret_cast<CUdeviceptr>(flag_); }
  void Write(unsigned value) { __atomic_store_n(flag_, value, __ATOMIC_SEQ_CST); }
  unsigned Read(int at) { return __atomic_load_n(flag_ + at, __ATOMIC_SEQ_CST); }

  // Whether a wait of a stream for `value` ends while the memory holds `now`.
  bool Ends(unsigned now, unsigned value, unsigned flags) {
    Write(now);
    EXPECT_CUDA(cuStreamWaitValue32(stream_, Flag(), value, flags));
    cuheap_sim_run_until_idle();
    const bool ended = cuStreamQuery(stream_) == CUDA_SUCCESS;
    if (!ended) Release(value, flags);
    return ended;
  }
  void Release(unsigned value, unsigned flags) {
    Write(flags == CU_STREAM_WAIT_VALUE_NOR ? 0 : value);
    EXPECT_CUDA(cuStreamSynchronize(stream_));
  }

  CUstream side_ = nullptr;
  unsigned* flag_ = nullptr;
};

TEST_F(MemoryOperationTest, ConditionsAreAsDocumented) {
  EXPECT_TRUE(Ends(5, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_TRUE(Ends(6, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_FALSE(Ends(4, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_TRUE(Ends(2, 0xFFFFFFF0U, CU_STREAM_WAIT_VALUE_GEQ)) << "cyclic";
  EXPECT_TRUE(Ends(5, 5, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_FALSE(Ends(6, 5, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_TRUE(Ends(6, 4, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_FALSE(Ends(3, 4, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_TRUE(Ends(1, 2, CU_STREAM_WAIT_VALUE_NOR));
  EXPECT_FALSE(Ends(0xFFFFFFF0U, 0xFU, CU_STREAM_WAIT_VALUE_NOR));
}

TEST_F(MemoryOperationTest, AWaitHoldsItsStreamBackUntilAnotherStreamWrites) {
  ASSERT_CUDA(cuStreamWaitValue32(stream_, Flag(), 1, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_CUDA(cuMemsetD32Async(Flag() + 64, 9, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  EXPECT_EQ(0U, Read(16));
  ASSERT_CUDA(cuMemsetD32Async(Flag() + 128, 8, 1, side_));
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_EQ(8U, Read(32)) << "other streams go on";
  EXPECT_EQ(0U, Read(16));
  ASSERT_CUDA(cuStreamWriteValue32(side_, Flag(), 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(9U, Read(16));
}

TEST_F(MemoryOperationTest, ASynchronisationWaitsForAThreadThatWrites) {
  ASSERT_CUDA(cuStreamWaitValue32(stream_, Flag(), 1, CU_STREAM_WAIT_VALUE_GEQ));
  ASSERT_CUDA(cuMemsetD32Async(Flag() + 64, 9, 1, stream_));
  std::atomic<bool> wrote{false};
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    wrote = true;
    Write(1);
  });
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_TRUE(wrote);
  EXPECT_EQ(9U, Read(16));
  writer.join();
}

TEST_F(MemoryOperationTest, AnEventBehindAWaitIsNotReached) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuStreamWaitValue64(stream_, Flag(), 1ULL << 40, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_CUDA(cuEventRecord(event, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(side_, event, 0));
  ASSERT_CUDA(cuMemsetD32Async(Flag() + 64, 9, 1, side_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(side_));
  CUstream third = nullptr;
  ASSERT_CUDA(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuStreamWriteValue64(third, Flag(), 1ULL << 40, 0));
  EXPECT_CUDA(cuStreamSynchronize(side_));
  EXPECT_CUDA(cuEventQuery(event));
  EXPECT_EQ(9U, Read(16));
}

TEST_F(MemoryOperationTest, CopiesOfPageableMemoryAreTakenBehindAWait) {
  unsigned source = 42;
  ASSERT_CUDA(cuStreamWaitValue32(stream_, Flag(), 1, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_CUDA(cuMemcpyHtoDAsync(block_, &source, sizeof source, stream_));
  source = 0;
  Write(1);
  EXPECT_EQ(42U, Word(block_));
}

TEST_F(MemoryOperationTest, ABatchIsDoneInItsOrder) {
  CUstreamBatchMemOpParams list[4] = {};
  list[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  list[0].writeValue.address = Flag() + 4;
  list[0].writeValue.value = 3;
  list[1].operation = CU_STREAM_MEM_OP_BARRIER;
  list[2].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  list[2].waitValue.address = Flag();
  list[2].waitValue.value = 1;
  list[3].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  list[3].writeValue.address = Flag() + 8;
  list[3].writeValue.value64 = 4;
  ASSERT_CUDA(cuStreamBatchMemOp(stream_, 4, list, 0));
  cuheap_sim_run_until_idle();
  for (int i = 0; i < 1000 && Read(1) == 0; ++i) cuStreamQuery(stream_);
  EXPECT_EQ(3U, Read(1));
  EXPECT_EQ(0U, Read(2));
  Write(1);
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(4U, Read(2));
}

TEST_F(MemoryOperationTest, WhatIsWrongIsRefusedAsAWhole) {
  CUdeviceptr managed = 0;
  ASSERT_CUDA(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, managed, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream_, managed, 0, 0));
  EXPECT_CUDA(cuMemFree(managed));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, Flag() + 2, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(stream_, Flag() + 4, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, Flag(), 0, 4));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            cuStreamWaitValue32(stream_, Flag(), 0, CU_STREAM_WAIT_VALUE_FLUSH));
  int can_flush = 1;
  ASSERT_CUDA(cuDeviceGetAttribute(&can_flush, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0));
  EXPECT_EQ(0, can_flush);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuStreamWriteValue32(stream_, Flag(), 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  CUstreamBatchMemOpParams list[2] = {};
  list[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  list[0].writeValue.address = Flag();
  list[0].writeValue.value = 3;
  list[1].operation = static_cast<CUstreamBatchMemOpType>(7);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 2, list, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 1, list, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 256, list, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 1, nullptr, 0));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, Read(0));
}

TEST_F(MemoryOperationTest, AWrittenValueGoesWithItsMemory) {
  const CUdeviceptr first = Alloc(2 * kMiB);
  ASSERT_CUDA(cuStreamWriteValue32(stream_, first, 7, 0));
  EXPECT_EQ(7U, Word(first));
  EXPECT_CUDA(cuMemFree(first));
  const CUdeviceptr second = Alloc(2 * kMiB);
  EXPECT_EQ(0U, Word(second)) << "no memory of the simulated device is given on with its content";
}

TEST_F(MemoryOperationTest, ANodeOfAGraphWaitsAndItsOtherBranchesGoOn) {
  CUstreamBatchMemOpParams wait{};
  wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  wait.waitValue.address = Flag();
  wait.waitValue.value = 1;
  CUDA_BATCH_MEM_OP_NODE_PARAMS wanted{context_, 1, &wait, 0};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &wanted));
  AddSet(graph_, Flag() + 64, 5, {node});
  AddSet(graph_, Flag() + 128, 6);
  CUDA_BATCH_MEM_OP_NODE_PARAMS told{};
  ASSERT_CUDA(cuGraphBatchMemOpNodeGetParams(node, &told));
  ASSERT_EQ(1U, told.count);
  EXPECT_EQ(1U, told.paramArray[0].waitValue.value);
  const CUgraphExec exec = Instantiate(graph_);
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  cuheap_sim_run_until_idle();
  for (int i = 0; i < 1000 && Read(32) == 0; ++i) cuStreamQuery(stream_);
  EXPECT_EQ(6U, Read(32));
  EXPECT_EQ(0U, Read(16));
  Write(1);
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(5U, Read(16));
}

TEST_F(MemoryOperationTest, ABatchNodeChangesItsValuesOnly) {
  CUstreamBatchMemOpParams write{};
  write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = Flag();
  write.writeValue.value = 1;
  CUDA_BATCH_MEM_OP_NODE_PARAMS wanted{context_, 1, &write, 0};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &wanted));
  const CUgraphExec exec = Instantiate(graph_);
  write.writeValue.value = 2;
  ASSERT_CUDA(cuGraphExecBatchMemOpNodeSetParams(exec, node, &wanted));
  Run(exec);
  EXPECT_EQ(2U, Read(0));
  write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &wanted));
  ASSERT_CUDA(cuGraphBatchMemOpNodeSetParams(node, &wanted));
  wanted.count = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &wanted));
}

TEST_F(MemoryOperationTest, ACapturedBatchIsOneNode) {
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuStreamWriteValue32(stream_, Flag(), 7, 0));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, TypeOfOnlyNode(captured));
  EXPECT_EQ(0U, Read(0));
  Run(Instantiate(captured));
  EXPECT_EQ(7U, Read(0));
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(MemoryOperationTest, AWrittenValueOrdersWhatIsAroundIt) {
  const cuheap_sim_range range{block_, 512, 1};
  ASSERT_EQ(0, cuheap_sim_launch(side_, "producer", &range, 1));
  ASSERT_CUDA(cuStreamWriteValue32(side_, Flag(), 1, 0));
  ASSERT_CUDA(cuStreamWaitValue32(stream_, Flag(), 1, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_EQ(0, cuheap_sim_launch(stream_, "consumer", &range, 1));
  ASSERT_CUDA(cuStreamWriteValue32(stream_, Flag(), 2, 0));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, cuheap_sim_races());
}

}  // namespace
}  // namespace cuheap::sim
