// Kept instants: the live set at each is exact, for as long as it is kept, and nothing more is
// kept.
#include <set>

#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::InstantKind;
using format::Signal;

class InstantsTest : public LedgerTest {
 protected:
  void SetUp() override { ASSERT_TRUE(Open()); }
};

TEST_F(InstantsTest, WhatLivedAtAStepEndIsKnownAfterEverythingWasFreed) {
  Born(0x1000, 512);
  Born(0x2000, 512);
  ledger.Tick(Signal::k_program);
  Died(0x1000);
  Died(0x2000);
  ledger.Close();
  const FileView view(destination);
  EXPECT_EQ(view.Live().size(), 0u);
  ASSERT_EQ(view.Of(InstantKind::kStepEnd).size(), 1u);
  EXPECT_EQ(view.LiveAt(view.Of(InstantKind::kStepEnd)[0].time).size(), 2u);
}

TEST_F(InstantsTest, TheSeriesKeepsTheFirstAndTheNewestStepEndAndSpreadsTheRest) {
  for (int step = 1; step <= 1000; ++step) ledger.Tick(Signal::k_program);
  std::set<std::uint64_t> steps;
  for (const Instant& instant : View().Of(InstantKind::kStepEnd)) steps.insert(instant.step);
  EXPECT_EQ(steps.size(), 48u);
  EXPECT_EQ(*steps.begin(), 1u);
  EXPECT_EQ(*steps.rbegin(), 1000u);
  std::uint64_t largest = 0;
  for (auto step = std::next(steps.begin()); step != steps.end(); ++step)
    largest = std::max(largest, *step - *std::prev(step));
  EXPECT_LE(largest, 64u) << "no gap of more than three times an even spread";
}

TEST_F(InstantsTest, ARecordIsReusedOnceNoKeptInstantNeedsIt) {
  for (int step = 0; step < 4000; ++step) {
    for (std::uint64_t i = 1; i <= 20; ++i) Born(i << 12, 4096);
    ledger.Tick(Signal::k_program);
    for (std::uint64_t i = 1; i <= 20; ++i) Died(i << 12);
  }
  EXPECT_LE(View().blocks().size(), (48u + 2) * 20 + 200) << "48 step ends pin 20 blocks each";
}

TEST_F(InstantsTest, MarksAndOutOfMemoryAreKeptAndBoundedByName) {
  Born(0x1000, 100);
  ledger.OutOfMemory(DeviceId(0), 1_GiB);
  Born(0x2000, 200);
  ledger.OutOfMemory(DeviceId(0), 2_GiB);
  ledger.OutOfMemory(DeviceId(0), 3_GiB);
  for (int i = 0; i < 40; ++i) ledger.Mark("name");
  const FileView view = View();
  ASSERT_EQ(view.Of(InstantKind::kFirstOom).size(), 1u);
  ASSERT_EQ(view.Of(InstantKind::kLastOom).size(), 1u);
  EXPECT_EQ(view.Of(InstantKind::kFirstOom)[0].requested, (1_GiB).count());
  EXPECT_EQ(view.Of(InstantKind::kLastOom)[0].requested, (3_GiB).count());
  EXPECT_EQ(view.LiveAt(view.Of(InstantKind::kFirstOom)[0].time).size(), 1u);
  EXPECT_EQ(view.Of(InstantKind::kMark).size(), 32u);
  EXPECT_EQ(view.header().dropped.instants.load(), 8u);
}

TEST_F(InstantsTest, TheStrongestSignalCountsTheStepsAndTheOthersAreKept) {
  for (int i = 0; i < 3; ++i) {
    ledger.Tick(Signal::k_module);
    ledger.Tick(Signal::k_backward);
    ledger.Tick(Signal::k_optimizer);
  }
  EXPECT_EQ(ledger.steps(), 5u)
      << "two weaker ticks before the optimizer first showed, then its own three";
  EXPECT_EQ(View().header().clock.load(), static_cast<std::uint32_t>(Signal::k_optimizer));
  EXPECT_EQ(View().header().clock_since_step.load(), 2u);
  EXPECT_EQ(View().header().signal_ticks[static_cast<int>(Signal::k_module)].load(), 3u);
}

TEST_F(InstantsTest, AStrongerSignalThatComesLateDoesNotTakeOverUnlessTheProgramSpeaks) {
  for (int i = 0; i < 100; ++i) ledger.Tick(Signal::k_backward);
  EXPECT_FALSE(ledger.Tick(Signal::k_optimizer));
  EXPECT_TRUE(ledger.Tick(Signal::k_program));
  EXPECT_EQ(View().header().clock.load(), static_cast<std::uint32_t>(Signal::k_program));
}

TEST_F(InstantsTest, TheByteClockYieldsToTheFirstSignalHoweverLong) {
  for (int i = 0; i < 1000; ++i) {
    Born(0x1000, 64 << 20);
    Died(0x1000);
  }
  EXPECT_EQ(ledger.steps(), 1000u);
  EXPECT_TRUE(ledger.Tick(Signal::k_module));
  EXPECT_EQ(View().header().clock_since_step.load(), 1000u);
  Born(0x1000, 64 << 20);
  EXPECT_EQ(ledger.steps(), 1001u) << "bytes end no step any more";
  EXPECT_EQ(View().header().signal_ticks[static_cast<int>(Signal::k_bytes)].load(), 1001u);
}

// An optimizer that allocates in its first step alone (momentum, fused) ticks once.
TEST_F(InstantsTest, AWeakerSignalTakesOverFromALeaderThatFellSilent) {
  for (int step = 0; step < 300; ++step) {
    ledger.Tick(Signal::k_module);
    ledger.Tick(Signal::k_backward);
    if (step == 1) ledger.Tick(Signal::k_optimizer);
  }
  EXPECT_EQ(static_cast<Signal>(View().header().clock.load()), Signal::k_backward);
  EXPECT_GE(ledger.steps(), 270u);
  EXPECT_LE(ledger.steps(), 300u);
}

TEST_F(InstantsTest, APhaseWithoutTheLeaderIsCountedByWhatGoesOn) {
  for (int step = 0; step < 500; ++step) {
    ledger.Tick(Signal::k_backward);
    ledger.Tick(Signal::k_optimizer);
  }
  for (int step = 0; step < 500; ++step) ledger.Tick(Signal::k_backward);
  EXPECT_EQ(static_cast<Signal>(View().header().clock.load()), Signal::k_backward);
  EXPECT_GE(ledger.steps(), 850u);
  const std::uint64_t before = ledger.steps();
  for (int step = 0; step < 100; ++step) {
    ledger.Tick(Signal::k_backward);
    ledger.Tick(Signal::k_optimizer);
  }
  EXPECT_EQ(static_cast<Signal>(View().header().clock.load()), Signal::k_optimizer)
      << "the leader came back";
  EXPECT_LE(ledger.steps() - before, 101u);
}

TEST_F(InstantsTest, AccumulationAndEvaluationDoNotMoveTheClock) {
  for (int step = 0; step < 50; ++step) {
    for (int micro = 0; micro < 16; ++micro) ledger.Tick(Signal::k_backward);
    ledger.Tick(Signal::k_optimizer);
    if (step % 10 == 9)
      for (int batch = 0; batch < 500; ++batch) ledger.Tick(Signal::k_module);
  }
  EXPECT_EQ(static_cast<Signal>(View().header().clock.load()), Signal::k_optimizer);
  // The accumulated backwards before the first optimizer step count too.
  EXPECT_LE(ledger.steps(), 50u + 16u);
}

TEST_F(InstantsTest, TheProgramsOwnStepsAreWaitedForForEver) {
  ledger.Tick(Signal::k_program);
  for (int step = 0; step < 5000; ++step) ledger.Tick(Signal::k_backward);
  EXPECT_EQ(ledger.steps(), 1u);
}

TEST_F(InstantsTest, SegmentsAndHostMemoryDoNotMoveTheByteClock) {
  Born(0x1000, 1 << 30, format::Heap::k_driver, 0, format::kExpectSegment);
  Born(0x2000, 1 << 30, format::Heap::k_pinned);
  EXPECT_EQ(ledger.steps(), 0u);
}

TEST_F(InstantsTest, TicksAreThinnedEvenlyAndNeverLostAtTheStart) {
  constexpr std::uint64_t kTicks = 100000;
  for (std::uint64_t i = 0; i < kTicks; ++i) ledger.Tick(Signal::k_backward);
  const std::vector<std::uint64_t> numbers = View().Ticks(Signal::k_backward);
  ASSERT_GT(numbers.size(), 2000u);
  const std::uint64_t stride = numbers[0];
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], (i + 1) * stride);
  EXPECT_GT(numbers.back() + stride, kTicks);
}

TEST_F(InstantsTest, WhenTheFileIsFullHistoryIsThinnedBeforeABirthIsDropped) {
  Ledger small;
  LedgerOptions options = Options();
  options.limit = 2_MiB;
  ASSERT_TRUE(small.Open(options, clock));
  Birth birth;
  birth.heap = format::Heap::k_torch;
  for (int step = 0; step < 200; ++step) {
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      birth.address = Address(i << 12);
      small.Born(birth);
    }
    small.Tick(Signal::k_program);
    for (std::uint64_t i = 1; i <= 1000; ++i) small.Died(birth.heap, Address(i << 12));
  }
  const FileView view(small.file_path());
  EXPECT_EQ(view.header().dropped.blocks.load(), 0u);
  EXPECT_LT(view.Of(InstantKind::kStepEnd).size(), 48u);
  for (const Instant& instant : view.Of(InstantKind::kStepEnd))
    EXPECT_EQ(view.LiveAt(instant.time).size(), 1000u) << "step " << instant.step;
}

}  // namespace
}  // namespace cuheap::testing
