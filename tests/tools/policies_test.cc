// Each policy on streams whose result is known, the engine, and the recorded traces beside the
// allocator that they were recorded from.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "allocator/driver/accounting_driver.h"
#include "tests/tools/trace_maker.h"
#include "tools/replay/engine.h"
#include "tools/replay/ops_text.h"
#include "tools/replay/packed_text.h"
#include "tools/replay/read.h"

namespace cuheap::replay {
namespace {

constexpr DeviceId kDevice{0};

OpStream Ops(const std::string& text) {
  const Result<OpStream> stream = ReadOpsText("cuheap-ops 1\n" + text);
  EXPECT_TRUE(stream.ok()) << stream.error().message;
  return *stream;
}

std::string A(Bytes bytes) { return "a " + std::to_string(bytes.count()) + "\n"; }

Bytes Reserved(const char* policy, const std::string& text) {
  const Outcome outcome = Play(Ops(text), *FindPolicy(policy), 16_GiB);
  EXPECT_TRUE(outcome.completed());
  return outcome.peak_reserved[0];
}

std::uint64_t Calls(const Outcome& outcome, DriverCall call) {
  return outcome.calls[static_cast<std::size_t>(call)].calls;
}

TEST(TorchPolicyTest, SegmentsAreThoseOfPyTorch) {
  EXPECT_EQ(Reserved("torch", A(1_B)), 2_MiB);
  EXPECT_EQ(Reserved("torch", A(1_MiB)), 2_MiB);
  EXPECT_EQ(Reserved("torch", A(1_MiB + 1_B)), 20_MiB);
  EXPECT_EQ(Reserved("torch", A(10_MiB)), 10_MiB);
  EXPECT_EQ(Reserved("torch", A(11_MiB)), 12_MiB);
}

TEST(TorchPolicyTest, SmallAndLargeBlocksShareNothing) {
  EXPECT_EQ(Reserved("torch", A(1_B) + A(2_MiB)), 22_MiB);
  EXPECT_EQ(Reserved("torch", A(1_MiB) + A(1_MiB)), 2_MiB);
}

TEST(TorchPolicyTest, ARestOfAMebibyteStaysWithALargeBlock) {
  // 12 MiB free: 11 MiB of it leave 1 MiB, which stays; 10 MiB leave 2 MiB for another.
  const std::string twelve = A(12_MiB) + "f 1\n";
  EXPECT_EQ(Reserved("torch", twelve + A(10_MiB) + A(2_MiB)), 12_MiB);
  EXPECT_EQ(Reserved("torch", twelve + A(11_MiB) + A(1_MiB + 1_B)), 32_MiB);
}

TEST(TorchPolicyTest, NeighboursMergeAndTheBestFitIsTaken) {
  EXPECT_EQ(Reserved("torch", A(8_MiB) + A(8_MiB) + "f 1\nf 2\n" + A(9_MiB) + A(9_MiB)), 20_MiB);
  EXPECT_EQ(Reserved("torch", A(30_MiB) + A(20_MiB) + "f 1\nf 2\n" + A(19_MiB) + A(30_MiB)),
            50_MiB);
}

TEST(TorchPolicyTest, StreamsHaveBlocksOfTheirOwn) {
  EXPECT_EQ(Reserved("torch", A(20_MiB) + "f 1\n@ 0 1\n" + A(20_MiB)), 40_MiB);
}

TEST(TorchPolicyTest, ABlockThatAnotherStreamUsedWaitsForItsEvent) {
  const OpStream stream = Ops(A(20_MiB) + "u 1 1\nf 1\n" + A(20_MiB));
  const Outcome outcome = Play(stream, *FindPolicy("torch"), 1_GiB);
  EXPECT_EQ(outcome.peak_reserved[0], 20_MiB);
  EXPECT_EQ(Calls(outcome, DriverCall::kRecord), 1u);
  EXPECT_EQ(Calls(outcome, DriverCall::kQuery), 1u);
}

TEST(TorchPolicyTest, CachedSegmentsGoBackBeforeMemoryIsOut) {
  const OpStream stream = Ops(A(40_MiB) + "f 1\n" + A(60_MiB));
  const Outcome outcome = Play(stream, *FindPolicy("torch"), 80_MiB);
  EXPECT_TRUE(outcome.completed());
  EXPECT_EQ(Calls(outcome, DriverCall::kFree), 1u);
  EXPECT_EQ(Calls(outcome, DriverCall::kAllocate), 3u) << "the second one failed";
}

TEST(BestFitPolicyTest, SegmentsAreAsLargeAsWhatWasAskedFor) {
  EXPECT_EQ(Reserved("best_fit", A(1_B)), 2_MiB);
  EXPECT_EQ(Reserved("best_fit", A(3_MiB)), 4_MiB);
  EXPECT_EQ(Reserved("best_fit", A(3_MiB) + A(1_MiB)), 4_MiB) << "any rest is cut off";
  EXPECT_EQ(Reserved("best_fit", A(3_MiB) + "f 1\n@ 0 1\n" + A(3_MiB)), 8_MiB);
}

TEST(SizeClassPolicyTest, ABlockServesItsClassAlone) {
  EXPECT_EQ(Reserved("size_classes", A(1_MiB) + A(1_MiB)), 2_MiB);
  EXPECT_EQ(Reserved("size_classes", A(1_MiB) + "f 1\n" + A(512_KiB)), 4_MiB);
  EXPECT_EQ(Reserved("size_classes", A(16_MiB + 1_B)), 18_MiB);
  EXPECT_EQ(Reserved("size_classes", A(17_MiB) + "f 1\n" + A(18_MiB)), 18_MiB);
}

TEST(PoliciesTest, WhatTheyHoldIsWhatTheDriverGave) {
  for (const PolicyKind& kind : Policies()) {
    SCOPED_TRACE(kind.name);
    AccountingDriver driver({.capacity = 300_MiB});
    const std::unique_ptr<Policy> policy = kind.make(driver);
    std::mt19937 random(7);
    std::vector<BlockNumber> live;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      const Bytes bytes(1 + random() % (i % 4 == 0 ? 30'000'000 : 100'000));
      if (policy->Allocate(BlockNumber(i), bytes, kDevice, StreamHandle(random() % 2)))
        live.push_back(BlockNumber(i));
      if (random() % 8 == 0 && !live.empty()) policy->RecordUse(live.back(), StreamHandle(1));
      while (live.size() > 20 || (!live.empty() && random() % 2 == 0)) {
        std::swap(live[random() % live.size()], live.back());
        policy->Free(live.back());
        live.pop_back();
      }
      ASSERT_EQ(policy->reserved(), driver.used(kDevice)) << i;
    }
  }
}

TEST(PoliciesTest, MemoryThatIsOutIsSaidWithWhatThereWas) {
  for (const PolicyKind& kind : Policies()) {
    SCOPED_TRACE(kind.name);
    const Outcome outcome = Play(Ops(A(40_MiB) + A(60_MiB)), kind, 80_MiB);
    ASSERT_FALSE(outcome.completed());
    EXPECT_EQ(outcome.failure->op, 1u);
    EXPECT_EQ(outcome.failure->live, 40_MiB);
    EXPECT_EQ(outcome.failure->reserved, 40_MiB);
  }
}

Smallest SmallestOfTorch(const OpStream& stream, Bytes enough) {
  const PolicyKind& torch = *FindPolicy("torch");
  return FindSmallestCapacity(stream, torch, enough, Play(stream, torch, enough));
}

TEST(EngineTest, TheSmallestCapacityIsFound) {
  // 60 MiB freed and 100 MiB wanted beside 20 MiB: all that is idle can go back.
  const OpStream stream = Ops(A(20_MiB) + A(60_MiB) + "f 1\n" + A(100_MiB));
  const Smallest smallest = SmallestOfTorch(stream, 80_GiB);
  EXPECT_EQ(smallest.capacity, 120_MiB);
  EXPECT_LE(smallest.plays, 20);
  EXPECT_TRUE(Play(stream, *FindPolicy("torch"), 120_MiB).completed());
  EXPECT_FALSE(Play(stream, *FindPolicy("torch"), 118_MiB).completed());
}

TEST(EngineTest, ASmallestCapacityAboveThePeakIsFound) {
  // A survivor keeps the segment of 20 MiB: 4 MiB live, but 18 MiB do not fit in its holes.
  const OpStream stream = Ops(A(2_MiB) + A(2_MiB) + A(2_MiB) + "f 3\nf 1\n" + A(18_MiB));
  const Smallest smallest = SmallestOfTorch(stream, 80_GiB);
  EXPECT_EQ(smallest.capacity, 38_MiB);
}

TEST(EngineTest, NoCapacityIsFoundWhereNoneSuffices) {
  EXPECT_EQ(SmallestOfTorch(Ops(A(20_MiB)), 10_MiB).capacity, std::nullopt);
}

TEST(EngineTest, DevicesAreAccountedApart) {
  const Outcome outcome = Play(Ops(A(20_MiB) + "@ 1 0\n" + A(40_MiB)), *FindPolicy("torch"), 1_GiB);
  EXPECT_EQ(outcome.peak_reserved, (std::vector<Bytes>{20_MiB, 40_MiB}));
}

// What PyTorch's own allocator reserved when the trace was recorded stands in the trace.
TEST(RecordedTracesTest, ThePolicyTorchReservesWhatPyTorchDid) {
  const std::string word = "itself: reserved ";
  int traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUHEAP_TRACES)) {
    if (entry.path().extension() != ".gz") continue;
    SCOPED_TRACE(entry.path());
    const Result<std::string> text = Unpacked(cuheap::ReadBytes(entry.path().string()));
    ASSERT_TRUE(text.ok());
    const std::size_t at = text->find(word);
    ASSERT_NE(at, std::string::npos);
    const Result<OpStream> stream = ReadOpsText(*text);
    ASSERT_TRUE(stream.ok()) << stream.error().message;
    EXPECT_GE(FiguresOf(*stream).allocations, 5000u);
    EXPECT_EQ(Play(*stream, *FindPolicy("torch"), 80_GiB).peak_reserved[0],
              Bytes(std::stoull(text->substr(at + word.size()))));
    ++traces;
  }
  EXPECT_GT(traces, 0);
}

}  // namespace
}  // namespace cuheap::replay
