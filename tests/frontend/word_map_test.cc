#include "allocator/frontend/word_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cuheap {
namespace {

TEST(WordMapTest, AnEmptyMapFindsAndErasesNothing) {
  WordMap<int> map(64);
  EXPECT_EQ(map.Find(1), nullptr);
  EXPECT_FALSE(map.Erase(1));
  EXPECT_FALSE(map.AnyOf([](std::uint64_t, int*) { return true; }));
}

TEST(WordMapTest, AFullMapRefusesNewKeysAndKeepsTheOldOnes) {
  WordMap<std::uint64_t> map(64);
  std::uint64_t key = 1;
  while (std::uint64_t* value = map.FindOrInsert(key)) *value = key++;
  EXPECT_EQ(map.size(), 48u);
  for (std::uint64_t i = 1; i < key; ++i) EXPECT_EQ(*map.Find(i), i);
}

TEST(WordMapTest, ClearMakesRoom) {
  WordMap<int> map(64);
  for (std::uint64_t key = 1; map.FindOrInsert(key) != nullptr; ++key) {
  }
  map.Clear();
  EXPECT_EQ(map.Find(1), nullptr);
  EXPECT_NE(map.FindOrInsert(1000), nullptr);
}

TEST(WordMapTest, BehavesAsAMapUnderRandomOperations) {
  std::mt19937 random(7);
  WordMap<std::uint64_t> map(256);
  std::map<std::uint64_t, std::uint64_t> model;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t key = 1 + random() % 300;
    if (random() % 2 == 0) {
      if (std::uint64_t* value = map.FindOrInsert(key)) model[key] = *value = random();
    } else {
      EXPECT_EQ(map.Erase(key), model.erase(key) == 1);
    }
    const std::uint64_t other = 1 + random() % 300;
    const std::uint64_t* found = map.Find(other);
    ASSERT_EQ(found != nullptr, model.contains(other));
    if (found != nullptr) {
      ASSERT_EQ(*found, model[other]);
    }
  }
  EXPECT_EQ(map.size(), model.size());
}

}  // namespace
}  // namespace cuheap
