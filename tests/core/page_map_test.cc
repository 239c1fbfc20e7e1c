#include "allocator/core/page_map.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "allocator/core/growth_window.h"
#include "allocator/core/idle_pages.h"
#include "tests/base/seeds.h"

namespace cuheap::core {
namespace {

constexpr std::uint64_t kBegin = 0x10000;
constexpr std::uint32_t kPages = 48;
constexpr Bytes kPage = 8_B;

TEST(PageMapTest, EveryPageLeadsToItsWholeMapping) {
  PageMap pages(kBegin, kPages, kPage);
  const Mapping low{HandleId(1), 3, 2};
  const Mapping high{HandleId(2), 5, 4};
  ASSERT_TRUE(pages.Map(high));
  ASSERT_TRUE(pages.Map(low));
  EXPECT_EQ(pages.At(3), low);
  EXPECT_EQ(pages.At(4), low);
  EXPECT_EQ(pages.At(5), high);
  EXPECT_EQ(pages.At(8), high);
  EXPECT_EQ(pages.At(9), Mapping());
  EXPECT_EQ(pages.At(kPages - 1), Mapping());
  EXPECT_EQ(pages.mapped_pages(), 6u);
  pages.Unmap(low);
  EXPECT_EQ(pages.At(4), Mapping());
  EXPECT_EQ(pages.mapped_pages(), 4u);
}

TEST(PageMapTest, AddressesAndPagesAgree) {
  const PageMap pages(kBegin, kPages, kPage);
  EXPECT_EQ(pages.PageOf(kBegin + 15), 1u);
  EXPECT_EQ(pages.PageFrom(kBegin + 15), 2u);
  EXPECT_EQ(pages.PageFrom(kBegin + 16), 2u);
  EXPECT_EQ(pages.AddressOf(2), kBegin + 16);
}

// One virtual range with its tiling, changed at random as a pool would change it.
class RangeTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  RangeTest() : random_(GetParam()) {
    segment_ = fit_.AddSegment(kBegin, Bytes(kPages * kPage.count()), BlockState::kUnmapped);
  }

  std::uint64_t Random(std::uint64_t below) { return random_() % below; }

  void MapSomewhere() {
    const auto first = static_cast<std::uint32_t>(Random(kPages));
    const auto count = static_cast<std::uint32_t>(1 + Random(4));
    if (first + count > kPages) return;
    for (std::uint32_t page = first; page < first + count; ++page)
      if (pages_.At(page).handle != HandleId::kNone) return;
    const Mapping mapping{HandleId(++last_handle_), first, count};
    ASSERT_TRUE(pages_.Map(mapping));
    const BlockId block = BlockAt(pages_.AddressOf(first));
    ASSERT_TRUE(fit_.Map(block, pages_.AddressOf(first), Bytes(count * kPage.count())));
  }

  void AllocateOrFree() {
    if (live_.empty() || Random(3) != 0) {
      const BlockId block = fit_.Allocate(Bytes(1 + Random(24)));
      if (block) live_.push_back(block);
    } else {
      std::swap(live_[Random(live_.size())], live_.back());
      fit_.Free(live_.back());
      live_.pop_back();
    }
  }

  BlockId BlockAt(std::uint64_t address) {
    BlockId block = fit_[segment_].first;
    while (fit_[block].end() <= address) block = fit_[block].after;
    return block;
  }

  BlockState StateAt(std::uint64_t address) { return fit_[BlockAt(address)].state; }

  // By looking at every window: the fewest pages that one misses.
  std::optional<std::uint64_t> FewestMissing(std::uint64_t wanted) {
    std::optional<std::uint64_t> fewest;
    for (std::uint64_t begin = kBegin; begin + wanted <= pages_.end(); ++begin) {
      bool open = true;
      std::map<std::uint32_t, bool> missing;
      for (std::uint64_t at = begin; at < begin + wanted; ++at) {
        const BlockState state = StateAt(at);
        open = open && (state == BlockState::kFree || state == BlockState::kUnmapped);
        if (state == BlockState::kUnmapped) missing[pages_.PageOf(at)] = true;
      }
      if (open && (!fewest || missing.size() < *fewest)) fewest = missing.size();
    }
    return fewest;
  }

  bool IsIdle(const Mapping& mapping) {
    for (std::uint64_t at = pages_.AddressOf(mapping.first); at < pages_.AddressOf(mapping.end());
         ++at)
      if (StateAt(at) != BlockState::kFree) return false;
    return true;
  }

  std::vector<std::pair<BlockId, Mapping>> IdleOutside(const Window& spared) {
    std::vector<std::pair<BlockId, Mapping>> idle;
    ForEachIdleMapping(fit_, segment_, pages_, spared, [&](BlockId block, const Mapping& mapping) {
      idle.emplace_back(block, mapping);
      return true;
    });
    return idle;
  }

  std::mt19937 random_;
  BestFit fit_;
  SegmentId segment_;
  PageMap pages_{kBegin, kPages, kPage};
  std::vector<BlockId> live_;
  std::uint32_t last_handle_ = 0;
};

TEST_P(RangeTest, TheWindowMissesTheFewestPages) {
  for (int turn = 0; turn < 300; ++turn) {
    Random(3) == 0 ? MapSomewhere() : AllocateOrFree();
    const Bytes wanted(1 + Random(100));
    const Window window = FindWindow(fit_, segment_, wanted, kPage);
    const std::optional<std::uint64_t> fewest = FewestMissing(wanted.count());
    ASSERT_EQ(static_cast<bool>(window), fewest.has_value());
    if (!window) continue;
    ASSERT_EQ(window.missing.count(), *fewest * kPage.count());
    ASSERT_EQ(window.bytes, wanted);
    for (std::uint64_t at = window.begin; at < window.end(); ++at) {
      ASSERT_NE(StateAt(at), BlockState::kLive);
      ASSERT_NE(StateAt(at), BlockState::kWaiting);
    }
  }
}

TEST_P(RangeTest, IdleMappingsAreThoseThatNothingHolds) {
  for (int turn = 0; turn < 300; ++turn) {
    Random(2) == 0 ? MapSomewhere() : AllocateOrFree();
    std::uint32_t expected = 0;
    for (std::uint32_t page = 0; page < kPages; ++page) {
      const Mapping mapping = pages_.At(page);
      if (mapping.handle != HandleId::kNone && mapping.first == page && IsIdle(mapping)) ++expected;
    }
    const auto idle = IdleOutside({});
    ASSERT_EQ(idle.size(), expected);
    for (const auto& [block, mapping] : idle) ASSERT_TRUE(IsIdle(mapping));
    if (idle.empty() || Random(3) != 0) continue;
    const auto& [block, mapping] = idle[Random(idle.size())];
    pages_.Unmap(mapping);
    ASSERT_TRUE(
        fit_.Unmap(block, pages_.AddressOf(mapping.first), Bytes(mapping.pages * kPage.count())));
    ASSERT_EQ(fit_.FirstBrokenLaw(), nullptr);
    ASSERT_EQ(pages_.FirstBrokenLaw(), nullptr);
  }
}

TEST_P(RangeTest, IdleMappingsInTheWindowAreSpared) {
  for (int turn = 0; turn < 200; ++turn) Random(2) == 0 ? MapSomewhere() : AllocateOrFree();
  const Window window = FindWindow(fit_, segment_, 40_B, kPage);
  if (!window) return;
  std::size_t inside = 0;
  for (const auto& [block, mapping] : IdleOutside({})) {
    const bool apart = pages_.AddressOf(mapping.end()) <= window.begin ||
                       pages_.AddressOf(mapping.first) >= window.end();
    inside += apart ? 0u : 1u;
  }
  EXPECT_EQ(IdleOutside(window).size() + inside, IdleOutside({}).size());
}

TEST_P(RangeTest, TheSmallestFreeBlocksGiveFirst) {
  for (int turn = 0; turn < 200; ++turn) Random(2) == 0 ? MapSomewhere() : AllocateOrFree();
  Bytes before;
  for (const auto& [block, mapping] : IdleOutside({})) {
    EXPECT_GE(fit_[block].bytes, before);
    before = fit_[block].bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RangeTest,
                         ::testing::ValuesIn(cuheap::testing::Seeds({1, 2, 3, 4, 5, 6})));

}  // namespace
}  // namespace cuheap::core
