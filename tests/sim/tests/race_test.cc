// The race oracle: what nothing orders is reported, what the documentation orders is not. Runs
// under every clock; what is ordered does not depend on when work is done.
#include <atomic>
#include <set>

#include "tests/sim/tests/queued_work.h"

namespace cuheap::sim {
namespace {

class RaceTest : public QueuedWork {
 protected:
  void SetUp() override {
    QueuedWork::SetUp();
    a_ = NewStream();
    b_ = NewStream();
    block_ = Alloc(4096);
  }
  static void ExpectRace() { EXPECT_EQ(1U, cuheap_sim_races()); }
  static void ExpectNone() { EXPECT_EQ(0U, cuheap_sim_races()) << LastRace(); }

  CUstream a_ = nullptr;
  CUstream b_ = nullptr;
  CUdeviceptr block_ = 0;
};

TEST_F(RaceTest, TwoWritesInTwoStreams) {
  Write(a_, block_);
  Write(b_, block_);
  ExpectRace();
  const std::string text = LastRace();
  EXPECT_NE(text.find("first: a writer writes it in stream "), std::string::npos) << text;
  EXPECT_NE(text.find("second: a writer writes it"), std::string::npos) << text;
  EXPECT_NE(text.find("race_test"), std::string::npos) << "names the caller's program: " << text;
}

TEST_F(RaceTest, ReadingWhatIsBeingWritten) {
  Write(a_, block_);
  Read(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, WritingWhatIsBeingRead) {
  Read(a_, block_);
  Write(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, ReadersAndNeighboursDoNotMind) {
  Write(a_, block_, 1024);
  After(b_, a_);
  Read(a_, block_);
  Read(b_, block_);
  Write(a_, block_ + 1024);
  Write(b_, block_ + 2048);
  ExpectNone();
}

TEST_F(RaceTest, EveryReaderCounts) {
  const CUstream c = NewStream();
  Read(a_, block_);
  Read(b_, block_);
  After(c, b_);
  Write(c, block_);
  ExpectRace();
}

TEST_F(RaceTest, OneByteIsEnough) {
  Write(a_, block_, 513);
  Write(b_, block_ + 512, 512);
  ExpectRace();
}

TEST_F(RaceTest, AnEventOrders) {
  Write(a_, block_);
  After(b_, a_);
  Write(b_, block_);
  ExpectNone();
  Write(a_, block_);
  ExpectRace();
}

TEST_F(RaceTest, EventsOrderThroughOthers) {
  const CUstream c = NewStream();
  Write(a_, block_);
  After(b_, a_);
  After(c, b_);
  Write(c, block_);
  ExpectNone();
}

TEST_F(RaceTest, AnEventRecordedTooEarlyDoesNot) {
  const CUevent early = Record(a_);
  Write(a_, block_);
  Wait(b_, early);
  Write(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, AnEventThatWasNeverRecordedDoesNot) {
  CUevent event = nullptr;
  EXPECT_CUDA(cuEventCreate(&event, 0));
  Write(a_, block_);
  EXPECT_CUDA(cuEventQuery(event)) << "as a driver says";
  Wait(b_, event);
  Write(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, WaitingOnTheHostOrders) {
  Write(a_, block_);
  EXPECT_CUDA(cuStreamSynchronize(a_));
  Write(b_, block_);
  const CUevent event = Record(b_);
  EXPECT_CUDA(cuEventSynchronize(event));
  Write(a_, block_);
  EXPECT_CUDA(cuCtxSynchronize());
  Write(b_, block_);
  ExpectNone();
}

TEST_F(RaceTest, WaitingForTheContextOrdersTheWorkOfStreamsThatAreGone) {
  Write(a_, block_);
  EXPECT_CUDA(cuStreamDestroy(a_));
  cuheap_sim_run_until_idle();
  EXPECT_CUDA(cuCtxSynchronize());
  Write(b_, block_);
  ExpectNone();
}

TEST_F(RaceTest, WaitingForAnotherStreamDoesNot) {
  Write(a_, block_);
  EXPECT_CUDA(cuStreamSynchronize(b_));
  Write(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, TheLegacyStreamOrdersBlockingStreams) {
  const CUstream blocking = NewStream(CU_STREAM_DEFAULT);
  Write(blocking, block_);
  Write(CU_STREAM_LEGACY, block_);
  Write(blocking, block_);
  ExpectNone();
  Write(a_, block_);
  ExpectRace();
}

TEST_F(RaceTest, CopiesAndSetsCount) {
  const CUdeviceptr other = Alloc(4096);
  EXPECT_CUDA(cuMemsetD8Async(block_, 1, 4096, a_));
  EXPECT_CUDA(cuMemcpyDtoDAsync(other, block_, 4096, b_));
  ExpectRace();
  EXPECT_NE(LastRace().find("a copy reads it"), std::string::npos) << LastRace();
}

TEST_F(RaceTest, PinnedMemoryCounts) {
  void* host = nullptr;
  EXPECT_CUDA(cuMemHostAlloc(&host, 4096, 0));
  EXPECT_CUDA(cuMemcpyHtoDAsync(block_, host, 4096, a_));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, block_ + 0, 4096, b_));
  EXPECT_GE(cuheap_sim_races(), 1U);
  EXPECT_CUDA(cuMemFreeHost(host));
}

TEST_F(RaceTest, AReuseAfterAFreeByTheHostIsOrdered) {
  Write(a_, block_);
  EXPECT_CUDA(cuMemFree(block_));
  const CUdeviceptr again = Alloc(4096);
  EXPECT_EQ(block_, again);
  Write(b_, again);
  ExpectNone();
}

TEST_F(RaceTest, UnmappingUnderWorkIsARace) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr range = 0;
  ASSERT_CUDA(cuMemCreate(&handle, 2 * kMiB, &properties, 0));
  ASSERT_CUDA(cuMemAddressReserve(&range, 2 * kMiB, 0, 0, 0));
  ASSERT_CUDA(cuMemMap(range, 2 * kMiB, 0, handle, 0));
  ASSERT_CUDA(cuMemSetAccess(range, 2 * kMiB, &access, 1));
  Write(a_, range);
  ASSERT_CUDA(cuMemUnmap(range, 2 * kMiB));
  ExpectRace();
  EXPECT_NE(LastRace().find("the host ends it"), std::string::npos) << LastRace();
  ASSERT_CUDA(cuMemRelease(handle));
  ASSERT_CUDA(cuMemAddressFree(range, 2 * kMiB));
}

TEST_F(RaceTest, EveryPairOfPlacesIsSaidOnce) {
  for (int i = 0; i < 3; ++i) {
    Write(a_, block_);
    Write(b_, block_);
  }
  EXPECT_EQ(2U, cuheap_sim_races()) << "a before b, and b before a";
}

class StreamOrderedRaceTest : public RaceTest {
 protected:
  void TearDown() override {
    for (const CUdeviceptr block : made_) cuMemFree(block);  // some are freed already
    RaceTest::TearDown();
  }
  CUdeviceptr AllocIn(CUstream stream, std::size_t bytes = 4096) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(cuMemAllocAsync(&address, bytes, stream));
    made_.insert(address);
    return address;
  }

 private:
  std::set<CUdeviceptr> made_;
};

TEST_F(StreamOrderedRaceTest, UsedBeforeItsAllocationIsReached) {
  const CUdeviceptr block = AllocIn(a_);
  Write(b_, block);
  ExpectRace();
  EXPECT_NE(LastRace().find("a stream-ordered allocation"), std::string::npos) << LastRace();
}

TEST_F(StreamOrderedRaceTest, FreedWhileAnotherStreamUsesIt) {
  const CUdeviceptr block = AllocIn(a_);
  After(b_, a_);
  Read(b_, block);
  EXPECT_CUDA(cuMemFreeAsync(block, a_));
  ExpectRace();
}

TEST_F(StreamOrderedRaceTest, FreedInOrder) {
  const CUdeviceptr block = AllocIn(a_);
  After(b_, a_);
  Read(b_, block);
  After(a_, b_);
  EXPECT_CUDA(cuMemFreeAsync(block, a_));
  Write(a_, AllocIn(a_));
  ExpectNone();
}

TEST_F(StreamOrderedRaceTest, WhatThePoolHandsOutIsOrderedByThePool) {
  for (int turn = 0; turn < 20; ++turn) {
    for (const CUstream stream : {a_, b_}) {
      const CUdeviceptr block = AllocIn(stream, 20 * kMiB);
      Write(stream, block, 20 * kMiB);
      EXPECT_CUDA(cuMemFreeAsync(block, stream));
    }
  }
  ExpectNone();
}

class GraphRaceTest : public RaceTest {
 protected:
  CUgraphExec Captured(bool joined) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuStreamBeginCapture(a_, CU_STREAM_CAPTURE_MODE_RELAXED));
    After(b_, a_);
    Write(a_, block_);
    if (joined) After(b_, a_);
    Write(b_, block_);
    After(a_, b_);
    EXPECT_CUDA(cuStreamEndCapture(a_, &graph));
    EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 0));
    return exec;
  }
};

TEST_F(GraphRaceTest, EdgesOrder) {
  const CUgraphExec exec = Captured(true);
  EXPECT_CUDA(cuGraphLaunch(exec, a_));
  EXPECT_CUDA(cuGraphLaunch(exec, a_));
  Write(a_, block_);
  ExpectNone();
}

TEST_F(GraphRaceTest, BranchesDoNot) {
  const CUgraphExec exec = Captured(false);
  ExpectNone();
  EXPECT_CUDA(cuGraphLaunch(exec, a_));
  ExpectRace();
}

TEST_F(GraphRaceTest, AReplayRacesWithOtherStreams) {
  const CUgraphExec exec = Captured(true);
  EXPECT_CUDA(cuGraphLaunch(exec, a_));
  Write(b_, block_);
  ExpectRace();
}

TEST_F(RaceTest, AHostFunctionTellsTheHostWhatComesBeforeIt) {
  std::atomic<bool> told{false};
  Write(a_, block_);
  EXPECT_CUDA(cuLaunchHostFunc(
      a_, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &told));
  while (!told) cuheap_sim_advance_one(a_);
  Write(b_, block_);
  ExpectNone();
}

TEST_F(RaceTest, TheTimeBetweenEventsTellsTheHostThatTheyAreReached) {
  CUevent start = nullptr;
  CUevent end = nullptr;
  EXPECT_CUDA(cuEventCreate(&start, CU_EVENT_DEFAULT));
  EXPECT_CUDA(cuEventCreate(&end, CU_EVENT_DEFAULT));
  EXPECT_CUDA(cuEventRecord(start, a_));
  Write(a_, block_);
  EXPECT_CUDA(cuEventRecord(end, a_));
  float milliseconds = -1;
  while (cuEventElapsedTime(&milliseconds, start, end) == CUDA_ERROR_NOT_READY)
    cuheap_sim_advance_one(a_);
  EXPECT_GE(milliseconds, 0);
  Write(b_, block_);
  ExpectNone();
}

TEST_F(RaceTest, SynchronousCopiesBetweenDeviceMemoryTellTheHostNothing) {
  const CUdeviceptr source = Alloc(4096);
  EXPECT_CUDA(cuMemcpyDtoD(block_, source, 4096));
  Read(a_, block_);
  ExpectRace();
}

TEST_F(RaceTest, CopiesBetweenHostMemoryAreDoneWhenTheCallReturns) {
  void* pinned = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&pinned, 8192, 0));
  const auto host = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_CUDA(cuMemcpyAsync(host, host + 4096, 4096, a_));
  Read(b_, host);
  Write(b_, host + 4096);
  ExpectNone();
}

}  // namespace
}  // namespace cuheap::sim
