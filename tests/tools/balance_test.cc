#include "tools/analysis/balance.h"

#include <gtest/gtest.h>

#include "tests/tools/trace_maker.h"
#include "tools/analysis/report.h"

namespace cuheap {
namespace {

using analysis::Balance;
using format::Heap;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

Balance AtEnd(const trace::Trace& trace, std::size_t device = 0) {
  return analysis::BalanceAt(trace, device, analysis::EndOf(trace, device));
}

std::int64_t Sum(const Balance& balance) {
  return static_cast<std::int64_t>(balance.reserved()) + balance.untracked.value_or(0);
}

// A segment under PyTorch's cache.
void Segment(TraceMaker* maker, Heap heap, std::uint64_t address, std::uint64_t bytes, SiteId site,
             bool used, std::uint8_t device = 0) {
  maker->Alloc(heap, address, bytes, site, format::kExpectSegment, device);
  if (used) maker->ledger().ServeAsSegment(heap, Address{address}, Heap::k_torch);
}

TEST(BalanceTest, HolesAndIdleSegmentsAreToldApartAndTheSumIsUsed) {
  TraceMaker maker;
  const SiteId tensor = maker.Site(Heap::k_torch, {"a.py", "f", 1});
  const SiteId segment = maker.Site(Heap::k_driver, {"a.py", "g", 2});
  Segment(&maker, Heap::k_driver, kBase, 20 * kMiB, segment, true);
  Segment(&maker, Heap::k_driver, kBase + 100 * kMiB, 2 * kMiB, segment, false);
  maker.Alloc(Heap::k_torch, kBase + 4 * kMiB, kMiB, tensor);
  maker.Alloc(Heap::k_torch, kBase + 8 * kMiB, 3 * kMiB, tensor);
  maker.Alloc(Heap::k_driver, kBase + 200 * kMiB, 5 * kMiB, segment);
  maker.ledger().UsedSample(DeviceId{0}, Bytes(40 * kMiB), 1_GiB);
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_EQ(balance.live, 9 * kMiB);
  EXPECT_EQ(balance.holes, 16 * kMiB);
  EXPECT_EQ(balance.idle, 2 * kMiB);
  EXPECT_EQ(balance.untracked, static_cast<std::int64_t>(13 * kMiB));
  EXPECT_EQ(Sum(balance), static_cast<std::int64_t>(*balance.used));
  const analysis::SegmentFigures& figures = balance.fragmentation.at(Heap::k_torch);
  EXPECT_EQ(figures.largest_hole, 9 * kMiB);
  EXPECT_EQ(figures.idle_segments, 1u);
  EXPECT_DOUBLE_EQ(figures.blame.at(Value(tensor)), 16.0 * kMiB);
}

TEST(BalanceTest, WhatPyTorchHidesIsUnknownAndNotZero) {
  TraceMaker maker;
  const SiteId tensor = maker.Site(Heap::k_torch, {"a.py", "f", 1});
  const SiteId segment = maker.Site(Heap::k_driver, {"a.py", "g", 2});
  Segment(&maker, Heap::k_driver, kBase, 20 * kMiB, segment, true);
  maker.Alloc(Heap::k_torch, kBase, kMiB, tensor);
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_FALSE(balance.rounding.has_value());
  EXPECT_FALSE(balance.waiting.has_value());
  EXPECT_FALSE(balance.used.has_value());
  EXPECT_FALSE(balance.untracked.has_value());
}

TEST(BalanceTest, ABlockMaySpanMappedHandlesAndTheHandleIsTheUnit) {
  TraceMaker maker;
  const SiteId tensor = maker.Site(Heap::k_torch, {"a.py", "f", 1});
  const SiteId handle = maker.Site(Heap::k_vmm, {"a.py", "g", 2});
  for (std::uint64_t i = 0; i < 4; ++i) {
    Segment(&maker, Heap::k_vmm, kBase + i * 20 * kMiB, 20 * kMiB, handle, true);
  }
  maker.Alloc(Heap::k_torch, kBase, 30 * kMiB, tensor);
  maker.Alloc(Heap::k_torch, kBase + 50 * kMiB, 5 * kMiB, tensor);
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_EQ(balance.live, 35 * kMiB);
  EXPECT_EQ(balance.holes, 25 * kMiB);
  EXPECT_EQ(balance.idle, 20 * kMiB);
  EXPECT_EQ(balance.fragmentation.at(Heap::k_torch).largest_hole, 20 * kMiB)
      << "it joins across the border of two handles";
}

TEST(BalanceTest, UnmappedHandlesOfACacheAreIdleAndOthersAreLive) {
  TraceMaker maker;
  const SiteId handle = maker.Site(Heap::k_vmm, {"a.py", "g", 2});
  maker.Alloc(Heap::k_vmm, 1, 2 * kMiB, handle, format::kUnmapped | format::kExpectSegment);
  maker.Alloc(Heap::k_vmm, 2, 4 * kMiB, handle, format::kUnmapped);
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_EQ(balance.idle, 2 * kMiB);
  EXPECT_EQ(balance.live, 4 * kMiB);
}

TEST(BalanceTest, PoolsOfTheDriverAreIdleWhereTheyAreNotUsed) {
  TraceMaker maker;
  const SiteId site = maker.Site(Heap::k_async, {"a.py", "f", 1});
  maker.Alloc(Heap::k_async, kBase, 8 * kMiB, site);
  maker.ledger().PoolSample(DeviceId{0}, Bytes(64 * kMiB), Bytes(8 * kMiB));
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_EQ(balance.live, 8 * kMiB);
  EXPECT_EQ(balance.idle, 56 * kMiB);
  EXPECT_EQ(balance.holes, 0u);
}

TEST(BalanceTest, DevicesAreBalancedApart) {
  TraceMaker maker;
  const SiteId tensor = maker.Site(Heap::k_torch, {"a.py", "f", 1});
  const SiteId segment = maker.Site(Heap::k_driver, {"a.py", "g", 2});
  for (std::uint8_t device = 0; device < 2; ++device) {
    const std::uint64_t base = kBase * (device + 1u);
    Segment(&maker, Heap::k_driver, base, 20 * kMiB, segment, true, device);
    maker.Alloc(Heap::k_torch, base, (device + 1u) * kMiB, tensor, 0, device);
    maker.ledger().UsedSample(DeviceId{device}, Bytes(30 * kMiB), 1_GiB);
  }
  const trace::Trace trace = maker.Finish();
  for (std::uint8_t device = 0; device < 2; ++device) {
    const Balance balance = AtEnd(trace, device);
    EXPECT_EQ(balance.live, (device + 1u) * kMiB);
    EXPECT_EQ(balance.live + balance.holes, 20 * kMiB);
    EXPECT_EQ(Sum(balance), static_cast<std::int64_t>(30 * kMiB));
  }
}

TEST(BalanceTest, PinnedAndManagedMemoryIsOutsideUsed) {
  TraceMaker maker;
  maker.Alloc(Heap::k_pinned, kBase, 8 * kMiB, maker.Site(Heap::k_pinned, {"a.py", "f", 1}));
  maker.Alloc(Heap::k_managed, kBase * 2, 8 * kMiB, maker.Site(Heap::k_managed, {"a.py", "f", 2}));
  maker.ledger().UsedSample(DeviceId{0}, Bytes(kMiB), 1_GiB);
  const Balance balance = AtEnd(maker.Finish());
  EXPECT_EQ(balance.live, 0u);
  EXPECT_EQ(balance.untracked, static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(balance.heaps.size(), 2u);
}

TEST(BalanceTest, AMemoryOfThePastIsExactAtItsInstant) {
  TraceMaker maker;
  const SiteId site = maker.Site(Heap::k_driver, {"a.py", "f", 1});
  maker.Alloc(Heap::k_driver, kBase, 7 * kMiB, site);
  maker.ledger().Mark("before");
  maker.Free(Heap::k_driver, kBase);
  maker.Alloc(Heap::k_driver, kBase * 2, kMiB, site);
  const trace::Trace trace = maker.Finish();
  const Result<analysis::View> view = analysis::ViewAt(trace, *analysis::At::Parse("mark:before"));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(analysis::BalanceAt(trace, 0, view->devices[0]).live, 7 * kMiB);
  EXPECT_EQ(AtEnd(trace).live, kMiB);
}

}  // namespace
}  // namespace cuheap
