#include "allocator/frontend/block_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cuheap {
namespace {

using Block = BlockIndex::Block;

Block Make(std::uint64_t begin, std::uint64_t end, int device = 0) {
  return {.begin = begin,
          .end = end,
          .heap = format::Heap::k_driver,
          .device = DeviceId(static_cast<std::uint8_t>(device))};
}

TEST(BlockIndexTest, FindsTheBlockThatContainsAnAddress) {
  BlockIndex index;
  index.Insert(Make(100, 200));
  index.Insert(Make(300, 400));
  Block found;
  EXPECT_TRUE(index.Find(100, &found));
  EXPECT_EQ(found.begin, 100u);
  EXPECT_TRUE(index.Find(399, &found));
  EXPECT_EQ(found.begin, 300u);
  EXPECT_FALSE(index.Find(200, &found));
  EXPECT_FALSE(index.Find(99, &found));
}

TEST(BlockIndexTest, OnlyTheBeginningErasesABlock) {
  BlockIndex index;
  index.Insert(Make(100, 200));
  Block erased;
  EXPECT_FALSE(index.Erase(150, &erased));
  EXPECT_TRUE(index.Erase(100, &erased));
  EXPECT_FALSE(index.Erase(100, &erased));
}

TEST(BlockIndexTest, AnEraseCanBeTakenBackWithAllThatWasKnown) {
  BlockIndex index;
  index.Insert(Make(100, 200, 3));
  Block block;
  EXPECT_TRUE(index.TakeUnmarked(150, 160, &block));
  index.Erase(100, &block);
  index.Restore(100);
  EXPECT_TRUE(index.Find(150, &block));
  EXPECT_EQ(block.device, DeviceId{3});
  EXPECT_TRUE(block.serves);
}

TEST(BlockIndexTest, EveryBlockUnderARangeIsTakenOnce) {
  BlockIndex index;
  for (std::uint64_t i = 0; i < 10; ++i) index.Insert(Make(i * 10, i * 10 + 10));
  Block taken;
  int count = 0;
  while (index.TakeUnmarked(25, 61, &taken)) ++count;
  EXPECT_EQ(count, 5) << "those that begin at 20, 30, 40, 50 and 60";
  EXPECT_FALSE(index.TakeUnmarked(30, 31, &taken));
}

TEST(BlockIndexTest, ABlockWhoseEndWasNotSeenGivesWayToANewOne) {
  BlockIndex index;
  index.Insert(Make(100, 200));
  index.Insert(Make(200, 300));
  index.Insert(Make(150, 250));
  Block found;
  EXPECT_FALSE(index.Find(120, &found));
  EXPECT_FALSE(index.Find(270, &found));
  EXPECT_TRUE(index.Find(220, &found));
  EXPECT_EQ(found.begin, 150u);
}

TEST(BlockIndexTest, ADevicesBlocksAreErasedOneByOne) {
  BlockIndex index;
  for (std::uint64_t i = 0; i < 100; ++i)
    index.Insert(Make(i * 10, i * 10 + 10, static_cast<int>(i % 2)));
  Block erased;
  int count = 0;
  while (index.EraseAnyOf(DeviceId{1}, &erased)) ++count;
  EXPECT_EQ(count, 50);
  EXPECT_TRUE(index.Find(0, &erased));
  EXPECT_FALSE(index.Find(10, &erased));
}

TEST(BlockIndexTest, AFullIndexRefusesAndPlacesAreUsedAgain) {
  BlockIndex index(4);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(index.Insert(Make(i * 10, i * 10 + 10)));
  EXPECT_FALSE(index.Insert(Make(100, 110)));
  Block erased;
  index.Erase(0, &erased);
  EXPECT_TRUE(index.Insert(Make(100, 110)));
}

TEST(BlockIndexTest, BehavesAsAnOrderedMapUnderRandomOperations) {
  std::mt19937 random(11);
  BlockIndex index;
  std::map<std::uint64_t, std::uint64_t> model;  // begin -> end
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t begin = random() % 5000;
    Block block;
    if (random() % 3 != 0) {
      const std::uint64_t end = begin + 1 + random() % 40;
      for (auto it = model.begin(); it != model.end();)
        it = it->first < end && it->second > begin ? model.erase(it) : std::next(it);
      model[begin] = end;
      ASSERT_TRUE(index.Insert(Make(begin, end)));
    } else {
      ASSERT_EQ(index.Erase(begin, &block), model.erase(begin) == 1);
    }
    const std::uint64_t address = random() % 5000;
    auto after = model.upper_bound(address);
    const bool expected = after != model.begin() && std::prev(after)->second > address;
    ASSERT_EQ(index.Find(address, &block), expected);
    if (expected) {
      ASSERT_EQ(block.begin, std::prev(after)->first);
    }
  }
}

}  // namespace
}  // namespace cuheap
