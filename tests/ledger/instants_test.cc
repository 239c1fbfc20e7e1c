// Kept instants: the live set at each is exact, for as long as it is kept, and nothing more is
// kept.
#include <random>
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

TEST_F(InstantsTest, WithoutASignalBytesAllocatedAreTheClock) {
  for (std::uint64_t i = 1; i <= 64; ++i) {
    Born(0x1000, 8 << 20);
    Died(0x1000);
  }
  EXPECT_EQ(View().header().clock.load(), static_cast<std::uint32_t>(Signal::k_bytes));
  EXPECT_EQ(ledger.steps(), 8u);
}

// The law itself, against a naive model: after every operation the live set at each kept instant is
// the model's.
class Model {
 public:
  void Born(std::uint64_t address, std::uint64_t bytes) { live_[address] = bytes; }
  void Died(std::uint64_t address) { live_.erase(address); }
  const std::map<std::uint64_t, std::uint64_t>& live() const { return live_; }
  // What lived at each step end ever, by step.
  void StepEnd(std::uint64_t step) { at_step_[step] = live_; }
  std::string Differs(const FileView& view) const {
    if (AsMap(view.Live()) != live_) return "the live set";
    for (const Instant& instant : view.Of(InstantKind::kStepEnd))
      if (AsMap(view.LiveAt(instant.time)) != at_step_.at(instant.step))
        return "step end " + std::to_string(instant.step);
    return "";
  }

 private:
  static std::map<std::uint64_t, std::uint64_t> AsMap(const std::vector<Block>& blocks) {
    std::map<std::uint64_t, std::uint64_t> map;
    for (const Block& block : blocks) map[block.address] += block.bytes;
    return map;
  }
  std::map<std::uint64_t, std::uint64_t> live_;
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> at_step_;
};

TEST_F(InstantsTest, RandomOperationsNeverLoseOrInventABlockAtAKeptInstant) {
  std::mt19937 random(4711);
  Model model;
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t address = (1 + random() % 200) << 12;
    const std::uint64_t what = random() % 100;
    if (what < 3) {
      ledger.Tick(Signal::k_program);
      model.StepEnd(ledger.steps());
    } else if (model.live().count(address) == 0) {
      const std::uint64_t bytes = 512 * (1 + random() % 100);
      Born(address, bytes);
      model.Born(address, bytes);
    } else if (what < 70) {
      Died(address);
      model.Died(address);
    }
    if (i % 500 != 0) continue;
    ASSERT_EQ(model.Differs(View()), "") << "seed 4711, operation " << i;
  }
}

}  // namespace
}  // namespace cuheap::testing
