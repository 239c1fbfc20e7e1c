// Captures and the graphs they make.
#include <cstdint>
#include <thread>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class Captures : public Contract<Face> {
 protected:
  void SetUp() override {
    Contract<Face>::SetUp();
    if (this->IsSkipped()) return;
    stream_ = this->NewStream();
  }
  void TearDown() override {
    if (stream_ != nullptr) {
      EXPECT_OK(Face::StreamDestroy(stream_));
    }
    Contract<Face>::TearDown();
  }
  CUstreamCaptureStatus Status() {
    CUstreamCaptureStatus status{};
    EXPECT_OK(Face::IsCapturing(stream_, &status));
    return status;
  }
  // Ends a capture that something forbidden has broken.
  void ExpectBroken() {
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_INVALIDATED, Status());
    CUgraph graph = nullptr;
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, Face::EndCapture(stream_, &graph));
    EXPECT_EQ(nullptr, graph);
  }

  CUstream stream_ = nullptr;
};
TYPED_TEST_SUITE(Captures, Faces, NameOfFace);

TYPED_TEST(Captures, BecomeGraphsThatReplay) {
  void* const memory = this->Malloc(512);
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, this->Status());
  EXPECT_OK(TypeParam::MemsetAsync(memory, 5, 512, this->stream_));
  CUgraph graph = nullptr;
  ASSERT_OK(TypeParam::EndCapture(this->stream_, &graph));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, this->Status());
  std::size_t nodes = 0;
  EXPECT_OK(TypeParam::GraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(1U, nodes);

  CUgraphExec exec = nullptr;
  ASSERT_OK(TypeParam::GraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    EXPECT_OK(TypeParam::MemsetAsync(memory, 0, 512, this->stream_));
    EXPECT_OK(TypeParam::GraphLaunch(exec, this->stream_));
    EXPECT_EQ(std::vector<unsigned char>(512, 5), this->Bytes(memory, 512, this->stream_));
  }
  EXPECT_OK(TypeParam::GraphExecDestroy(exec));
  EXPECT_OK(TypeParam::GraphDestroy(graph));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Captures, BreakWhenTheirStreamIsWaitedFor) {
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TypeParam::StreamSynchronize(this->stream_));
  this->ExpectBroken();
}

TYPED_TEST(Captures, BreakWhenTheLegacyStreamGetsWork) {
  void* const memory = this->Malloc(512);
  CUstream blocking = nullptr;
  ASSERT_OK(TypeParam::StreamCreate(&blocking, CU_STREAM_DEFAULT));
  ASSERT_OK(TypeParam::BeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
              TypeParam::MemsetAsync(memory, 0, 512, CU_STREAM_LEGACY));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, TypeParam::EndCapture(blocking, &graph));
  EXPECT_OK(TypeParam::StreamDestroy(blocking));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Captures, ForbidAllocationsOfTheirThreadUnlessRelaxed) {
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    ASSERT_OK(TypeParam::BeginCapture(this->stream_, mode));
    void* memory = kPreset;
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TypeParam::Malloc(&memory, 512));
    EXPECT_EQ(kPreset, memory);
    this->ExpectBroken();
  }
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  void* const memory = this->Malloc(512);
  CUgraph graph = nullptr;
  EXPECT_OK(TypeParam::EndCapture(this->stream_, &graph));
  EXPECT_OK(TypeParam::GraphDestroy(graph));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Captures, ForbidOtherThreadsOnlyIfGlobal) {
  const auto allocate_elsewhere = [this] {
    Code code;
    std::thread([&code] {
      void* memory = nullptr;
      if (TypeParam::UseDevice(0).ok()) code = TypeParam::Malloc(&memory, 512);
      if (code.ok()) TypeParam::Free(memory);
    }).join();
    return code;
  };
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate_elsewhere());
  this->ExpectBroken();
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(allocate_elsewhere());
  CUgraph graph = nullptr;
  EXPECT_OK(TypeParam::EndCapture(this->stream_, &graph));
  EXPECT_OK(TypeParam::GraphDestroy(graph));
}

TYPED_TEST(Captures, AllowWhatAThreadInRelaxedModeDoes) {
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_OK(TypeParam::ExchangeCaptureMode(&mode));
  void* const memory = this->Malloc(512);
  EXPECT_OK(TypeParam::ExchangeCaptureMode(&mode));
  EXPECT_EQ(CU_STREAM_CAPTURE_MODE_RELAXED, mode);
  CUgraph graph = nullptr;
  EXPECT_OK(TypeParam::EndCapture(this->stream_, &graph));
  EXPECT_OK(TypeParam::GraphDestroy(graph));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Captures, RefuseQueriesOfTheirEvents) {
  CUevent const event = this->NewEvent();
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(TypeParam::EventRecord(event, this->stream_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, TypeParam::EventQuery(event));
  CUgraph graph = nullptr;
  TypeParam::EndCapture(this->stream_, &graph);  // facts.def: captured_event_query
  if (graph != nullptr) {
    EXPECT_OK(TypeParam::GraphDestroy(graph));
  }
  EXPECT_OK(TypeParam::EventDestroy(event));
}

TYPED_TEST(Captures, SpreadToStreamsThatWaitAndMustBeJoined) {
  void* const memory = this->Malloc(512);
  CUstream const other = this->NewStream();
  CUevent const event = this->NewEvent();
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(TypeParam::EventRecord(event, this->stream_));
  EXPECT_OK(TypeParam::StreamWaitEvent(other, event));
  CUstreamCaptureStatus status{};
  EXPECT_OK(TypeParam::IsCapturing(other, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
  EXPECT_OK(TypeParam::MemsetAsync(memory, 1, 512, other));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, TypeParam::EndCapture(this->stream_, &graph));
  EXPECT_OK(TypeParam::EventDestroy(event));
  EXPECT_OK(TypeParam::StreamDestroy(other));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Captures, OwnTheMemoryThatIsAllocatedInThem) {
  std::uint64_t before = 0;
  EXPECT_OK(TypeParam::GraphMemory(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &before));
  ASSERT_OK(TypeParam::BeginCapture(this->stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  void* memory = nullptr;
  ASSERT_OK(TypeParam::MallocAsync(&memory, kMiB, this->stream_));
  EXPECT_OK(TypeParam::MemsetAsync(memory, 1, kMiB, this->stream_));
  EXPECT_OK(TypeParam::FreeAsync(memory, this->stream_));
  CUgraph graph = nullptr;
  ASSERT_OK(TypeParam::EndCapture(this->stream_, &graph));
  CUgraphExec exec = nullptr;
  ASSERT_OK(TypeParam::GraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) EXPECT_OK(TypeParam::GraphLaunch(exec, this->stream_));
  EXPECT_OK(TypeParam::StreamSynchronize(this->stream_));
  std::uint64_t high = 0;
  EXPECT_OK(TypeParam::GraphMemory(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  EXPECT_GE(high, kMiB);
  EXPECT_OK(TypeParam::GraphExecDestroy(exec));
  EXPECT_OK(TypeParam::GraphDestroy(graph));
  EXPECT_OK(TypeParam::GraphMemTrim(0));
  std::uint64_t after = 0;
  EXPECT_OK(TypeParam::GraphMemory(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &after));
  EXPECT_EQ(before, after);
}

}  // namespace cuheap::contract
