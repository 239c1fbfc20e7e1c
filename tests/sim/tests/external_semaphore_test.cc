// Semaphores of other interfaces, as files: the test plays the other interface.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/tests/graphs.h"

namespace cuheap::sim {
namespace {

class ExternalSemaphoreTest : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    Make(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, &timeline_, &counter_);
    Make(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, &binary_, &state_);
  }
  void TearDown() override {
    EXPECT_CUDA(cuDestroyExternalSemaphore(timeline_));
    EXPECT_CUDA(cuDestroyExternalSemaphore(binary_));
    munmap(const_cast<std::uint64_t*>(counter_), 8);
    munmap(const_cast<std::uint64_t*>(state_), 8);
    Graphs::TearDown();
  }
  static CUresult Import(CUexternalSemaphoreHandleType type, int file, CUexternalSemaphore* out) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
    description.type = type;
    description.handle.fd = file;
    return cuImportExternalSemaphore(out, &description);
  }
  static void Make(CUexternalSemaphoreHandleType type, CUexternalSemaphore* out,
                   volatile std::uint64_t** value) {
    const int file = memfd_create("semaphore", MFD_CLOEXEC);
    ASSERT_EQ(0, ftruncate(file, 8));
    void* memory = mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(MAP_FAILED, memory);
    *value = static_cast<volatile std::uint64_t*>(memory);
    ASSERT_CUDA(Import(type, file, out));
  }
  CUresult Signal(CUexternalSemaphore semaphore, std::uint64_t value = 0) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters{};
    parameters.params.fence.value = value;
    return cuSignalExternalSemaphoresAsync(&semaphore, &parameters, 1, stream_);
  }
  static CUresult Wait(CUexternalSemaphore semaphore, CUstream stream, std::uint64_t value = 0) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters{};
    parameters.params.fence.value = value;
    return cuWaitExternalSemaphoresAsync(&semaphore, &parameters, 1, stream);
  }

  CUexternalSemaphore timeline_ = nullptr;
  CUexternalSemaphore binary_ = nullptr;
  volatile std::uint64_t* counter_ = nullptr;
  volatile std::uint64_t* state_ = nullptr;
};

TEST_F(ExternalSemaphoreTest, ATimelineIsSetAndWaitedFor) {
  EXPECT_CUDA(Signal(timeline_, 7));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(7U, *counter_);
  EXPECT_CUDA(Wait(timeline_, stream_, 8));
  EXPECT_CUDA(cuMemsetD32Async(block_, 5, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  *counter_ = 9;  // the other interface goes on
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(ExternalSemaphoreTest, AWaitTakesTheSignalOfTwoStates) {
  EXPECT_CUDA(Signal(binary_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, *state_);
  EXPECT_CUDA(Wait(binary_, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, *state_);
  EXPECT_CUDA(Wait(binary_, stream_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  *state_ = 1;
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(ExternalSemaphoreTest, ASignalOrdersTheWorkOfStreams) {
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_CUDA(cuMemsetD32Async(block_, 5, 1, stream_));
  EXPECT_CUDA(Signal(timeline_, 1));
  EXPECT_CUDA(Wait(timeline_, other, 1));
  EXPECT_CUDA(cuMemsetD32Async(block_, 6, 1, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_CUDA(cuStreamDestroy(other));
  EXPECT_EQ(0U, cuheap_sim_races());
}

TEST_F(ExternalSemaphoreTest, NodesSignalAndWaitAtEachLaunch) {
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal{};
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait{};
  signal.params.fence.value = 3;
  wait.params.fence.value = 3;
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals{&timeline_, &signal, 1};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS waits{&binary_, &wait, 1};
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  ASSERT_CUDA(cuGraphAddExternalSemaphoresSignalNode(&first, graph_, nullptr, 0, &signals));
  ASSERT_CUDA(cuGraphAddExternalSemaphoresWaitNode(&second, graph_, &first, 1, &waits));
  CUgraphNodeType type{};
  EXPECT_CUDA(cuGraphNodeGetType(first, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, type);
  EXPECT_CUDA(cuGraphNodeGetType(second, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, type);
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS told{};
  EXPECT_CUDA(cuGraphExternalSemaphoresSignalNodeGetParams(first, &told));
  EXPECT_EQ(timeline_, told.extSemArray[0]);
  EXPECT_EQ(3U, told.paramsArray[0].params.fence.value);
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeGetParams(first, &batch));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExternalSemaphoresWaitNodeGetParams(first, &waits));
  const CUgraphExec exec = Instantiate(graph_);
  signal.params.fence.value = 4;
  EXPECT_CUDA(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, first, &signals));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, second, &signals));
  *state_ = 1;
  Run(exec);
  EXPECT_EQ(4U, *counter_);
  EXPECT_EQ(0U, *state_);
}

TEST_F(ExternalSemaphoreTest, ANodeIsAddedByItsTypeAndCaptured) {
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal{};
  signal.params.fence.value = 5;
  CUgraphNodeParams wanted{};
  wanted.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  wanted.extSemSignal = {&timeline_, &signal, 1};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &wanted));
  Run(Instantiate(graph_));
  EXPECT_EQ(5U, *counter_);
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(Signal(timeline_, 6));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, TypeOfOnlyNode(captured));
  EXPECT_EQ(5U, *counter_);
  Run(Instantiate(captured));
  EXPECT_EQ(6U, *counter_);
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(ExternalSemaphoreTest, MisuseIsRefused) {
  CUexternalSemaphore none = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE,
            Import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, -1, &none));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            Import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE, 0, &none));
  EXPECT_EQ(nullptr, none);
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, Signal(none, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalSemaphore(none));
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuSignalExternalSemaphoresAsync(&timeline_, &signal, 0, stream_));
  signal.flags = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuSignalExternalSemaphoresAsync(&timeline_, &signal, 1, stream_));
  EXPECT_EQ(0U, *counter_);
}

}  // namespace
}  // namespace cuheap::sim
