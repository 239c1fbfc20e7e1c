#include "allocator/core/slab.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cuheap::core {
namespace {

class SlabTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SlabTest, EveryBlockGoesOutOnce) {
  Slab slab(GetParam());
  EXPECT_EQ(slab.free_blocks(), GetParam());
  for (std::uint32_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(slab.Take(), i);
    EXPECT_TRUE(slab.IsOut(i));
  }
  EXPECT_EQ(slab.Take(), Slab::kNone);
  EXPECT_EQ(slab.free_blocks(), 0u);
}

TEST_P(SlabTest, OnlyWhatIsOutComesBack) {
  Slab slab(GetParam());
  for (std::uint32_t i = 0; i < GetParam(); ++i) EXPECT_FALSE(slab.Give(i));
  EXPECT_EQ(slab.free_blocks(), GetParam());
  EXPECT_EQ(slab.Take(), 0u);
  EXPECT_TRUE(slab.Give(0));
  EXPECT_FALSE(slab.Give(0));
  EXPECT_EQ(slab.free_blocks(), GetParam());
}

TEST_P(SlabTest, TheLowestFreeBlockGoesOut) {
  std::mt19937 random(GetParam());
  Slab slab(GetParam());
  std::set<std::uint32_t> free;
  for (std::uint32_t i = 0; i < GetParam(); ++i) free.insert(i);
  for (int turn = 0; turn < 10'000; ++turn) {
    const auto block = static_cast<std::uint32_t>(random() % GetParam());
    if (random() % 2 == 0) {
      ASSERT_EQ(slab.Give(block), free.insert(block).second);
    } else {
      ASSERT_EQ(slab.Take(), free.empty() ? Slab::kNone : *free.begin());
      if (!free.empty()) free.erase(free.begin());
    }
    ASSERT_EQ(slab.free_blocks(), free.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SlabTest, testing::Values(1u, 8u, 63u, 64u, 65u, 127u, 128u));

}  // namespace
}  // namespace cuheap::core
