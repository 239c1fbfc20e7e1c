#include "allocator/base/treap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace cuheap {
namespace {

struct Record {
  std::uint64_t key = 0;
  TreapLinks links{};
};

struct ByKey {
  static TreapLinks& Links(Record& record) { return record.links; }
  static bool Less(const Record& a, const Record& b) { return a.key < b.key; }
  static bool Less(const Record& a, std::uint64_t key) { return a.key < key; }
};

TEST(SlotTableTest, SlotsAreUsedAgainAndNeverMove) {
  SlotTable<std::uint64_t> table(100'000);
  const SlotId first = table.Add(7);
  const std::uint64_t* place = &table[first];
  for (std::uint64_t i = 0; i < 50'000; ++i) table.Add(i);
  EXPECT_EQ(&table[first], place);
  EXPECT_EQ(*place, 7u);
  table.Remove(first);
  EXPECT_EQ(table.taken(), 50'000u);
  EXPECT_EQ(table.Add(8), first);
}

TEST(SlotTableTest, AFullTableHasNoSlot) {
  SlotTable<std::uint64_t> table(2);
  const SlotId first = table.Add(1);
  EXPECT_NE(table.Add(2), 0u);
  EXPECT_EQ(table.Add(3), 0u);
  table.Remove(first);
  EXPECT_EQ(table.Add(3), first);
  EXPECT_EQ(table.Add(4), 0u);
}

class TreapTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TreapTest, IsAnOrderedMap) {
  std::mt19937 random(GetParam());
  SlotTable<Record> table(1'000);
  Treap<Record, ByKey> tree;
  std::map<std::uint64_t, SlotId> model;
  for (int turn = 0; turn < 20'000; ++turn) {
    const std::uint64_t key = random() % 600;
    const auto found = model.find(key);
    if (found != model.end()) {
      tree.Erase(table, found->second);
      table.Remove(found->second);
      model.erase(found);
    } else {
      model[key] = table.Add({.key = key});
      tree.Insert(table, model[key]);
    }
    const std::uint64_t asked = random() % 600;
    const auto from = model.lower_bound(asked);
    ASSERT_EQ(tree.FirstFrom(table, asked), from == model.end() ? 0 : from->second);
    ASSERT_EQ(tree.LastBelow(table, asked), from == model.begin() ? 0 : std::prev(from)->second);
  }
  std::vector<SlotId> in_order;
  tree.ForEach(table, [&](SlotId id) { in_order.push_back(id); });
  ASSERT_EQ(in_order.size(), model.size());
  auto expected = model.begin();
  for (const SlotId id : in_order) EXPECT_EQ(id, (expected++)->second);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TreapTest, testing::Range(1u, 6u));

}  // namespace
}  // namespace cuheap
