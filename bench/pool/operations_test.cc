#include "bench/pool/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cuheap::bench {
namespace {

TEST(OperationsTest, ExchangesAreTheSameForTheSameSeed) {
  const auto key = [](const Exchange& e) { return std::pair(e.slot, e.bytes); };
  const auto equal = [&](std::uint64_t seed) {
    return std::ranges::equal(Exchanges(1, 16, 100), Exchanges(seed, 16, 100), {}, key, key);
  };
  EXPECT_TRUE(equal(1));
  EXPECT_FALSE(equal(2));
}

TEST(OperationsTest, SizesSpreadEvenlyOverTheirLogarithms) {
  const std::vector<Exchange> exchanges = Exchanges(1, 16, 100'000);
  const double middle = std::sqrt(double{kSmallestBlock} * kLargestBlock);
  std::size_t below = 0;
  for (const Exchange& exchange : exchanges) {
    ASSERT_LT(exchange.slot, 16U);
    ASSERT_GE(exchange.bytes, kSmallestBlock);
    ASSERT_LE(exchange.bytes, kLargestBlock);
    below += exchange.bytes < middle;
  }
  EXPECT_NEAR(static_cast<double>(below), 50'000, 1'000);
}

TEST(OperationsTest, RandomAllocationsStayInBoundsAndLeaveNothing) {
  const RandomAllocationsRules rules{.allocations = 2'000, .largest = std::uint64_t{4096} << 20};
  std::vector<std::uint64_t> live;
  std::uint64_t in_use = 0;
  for (const Turn& turn : RandomAllocationsTurns(rules)) {
    if (turn.bytes != 0) {
      ASSERT_LE(turn.bytes, rules.largest);
      live.push_back(turn.bytes);
      in_use += turn.bytes;
    } else {
      ASSERT_LT(turn.index, live.size());
      in_use -= live[turn.index];
      live[turn.index] = live.back();
      live.pop_back();
    }
    ASSERT_LT(in_use, std::uint64_t{16'000} << 20);
  }
  EXPECT_TRUE(live.empty());
}

TEST(OperationsTest, RandomAllocationsAllocateAsOftenAsTheyAreTold) {
  const auto turns = RandomAllocationsTurns({.allocations = 1'000, .largest = 1 << 20});
  const auto allocations = std::ranges::count_if(turns, [](const Turn& t) { return t.bytes != 0; });
  EXPECT_EQ(allocations, 1'000);
  EXPECT_EQ(turns.size(), 2'000U);
}

}  // namespace
}  // namespace cuheap::bench
