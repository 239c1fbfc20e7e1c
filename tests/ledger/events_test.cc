// Events beside the state: their order, what is lost, and what the state keeps.
#include <vector>

#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::EventKind;
using format::EventRecord;
using format::Heap;
using format::Mode;

class EventsTest : public LedgerTest {
 protected:
  void Open(Mode mode, Bytes limit = 256_MiB) {
    LedgerOptions options = Options();
    options.mode = mode;
    options.limit = limit;
    ASSERT_TRUE(LedgerTest::Open(options));
  }

  // In order of their time, as a reader takes them.
  std::vector<EventRecord> Events() const {
    std::vector<EventRecord> events = View().events();
    std::stable_sort(events.begin(), events.end(),
                     [](const EventRecord& a, const EventRecord& b) { return a.time < b.time; });
    return events;
  }

  void Churn(int times) {
    for (int i = 0; i < times; ++i) {
      Born(0x1000, 512);
      Died(0x1000);
    }
  }
};

TEST_F(EventsTest, SummaryHasNone) {
  Open(Mode::kSummary);
  Churn(10);
  EXPECT_TRUE(Events().empty());
  EXPECT_EQ(View().count(format::ChunkType::kEvent), 0);
}

TEST_F(EventsTest, WhatHappensIsToldInItsOrder) {
  Open(Mode::kFull);
  Born(0x100, 2 << 20, Heap::k_driver, 1, format::kExpectSegment);
  Born(0x100, 512, Heap::k_torch, 1);
  ledger.Tick(format::Signal::k_program);
  Died(0x100);
  Died(0x100, Heap::k_driver);
  ledger.Undo(Heap::k_driver, Address(0x100));
  const std::vector<EventRecord> events = Events();
  ASSERT_EQ(events.size(), 6u);
  const EventKind kinds[] = {EventKind::kSegmentMap,   EventKind::kAllocation,
                             EventKind::kStep,         EventKind::kFree,
                             EventKind::kSegmentUnmap, EventKind::kFreeFailed};
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, kinds[i]) << i;
    EXPECT_GT(events[i].time, i > 0 ? events[i - 1].time : 0);
    if (events[i].kind == EventKind::kStep) continue;
    EXPECT_EQ(events[i].address, 0x100u);
    EXPECT_EQ(events[i].device, 1);
  }
  EXPECT_EQ(events[0].heap, Heap::k_driver);
  EXPECT_EQ(events[1].heap, Heap::k_torch);
  EXPECT_EQ(events[1].bytes, 512u);
  EXPECT_EQ(View().header().dropped_events.load(), 0u);
}

TEST_F(EventsTest, TheRingKeepsTheLatestAndSaysHowManyItLost) {
  Open(Mode::kEvents, 1_MiB);
  constexpr int kTimes = 10000;  // twice as many events, 32 bytes each: more than a quarter MiB
  Churn(kTimes);
  Born(0x2000, 77);
  const std::vector<EventRecord> events = Events();
  EXPECT_EQ(events.back().bytes, 77u);
  std::uint64_t kept = 0;
  std::uint64_t lost = 0;
  for (const EventRecord& event : events) {
    if (event.kind != EventKind::kGap) ++kept;
    if (event.kind == EventKind::kGap) lost = std::max(lost, event.address);
  }
  EXPECT_EQ(kept + lost, 2u * kTimes + 1);
  EXPECT_EQ(lost, View().header().dropped_events.load());
  EXPECT_GT(lost, 0u);
  EXPECT_LE(View().count(format::ChunkType::kEvent), 16);
  // What is kept has no gap but at its beginning.
  std::uint64_t since_gap = 0;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->kind == EventKind::kGap && event->address == lost) break;
    since_gap += event->kind != EventKind::kGap;
  }
  EXPECT_GT(since_gap, 0u);
}

TEST_F(EventsTest, FullKeepsTheFirstAndSaysHowManyItLost) {
  Open(Mode::kFull, 1_MiB);
  constexpr int kTimes = 20000;
  Born(0x2000, 77);
  Churn(kTimes);
  const std::vector<EventRecord> events = Events();
  EXPECT_EQ(events.front().bytes, 77u);
  ASSERT_EQ(events.back().kind, EventKind::kGap);
  EXPECT_EQ(events.size() - 1 + events.back().address, 2u * kTimes + 1);
  EXPECT_EQ(events.back().address, View().header().dropped_events.load());
}

TEST_F(EventsTest, TheStateHasItsRoomBesideTheEvents) {
  Open(Mode::kFull, 2_MiB);
  Churn(40000);
  constexpr std::uint64_t kBlocks = 2000;
  for (std::uint64_t i = 1; i <= kBlocks; ++i) Born(i << 20, 4096);
  EXPECT_EQ(View().Live().size(), kBlocks);
  EXPECT_EQ(View().header().dropped.blocks.load(), 0u);
}

}  // namespace
}  // namespace cuheap::testing
