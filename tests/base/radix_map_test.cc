#include "allocator/base/radix_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace cuheap {
namespace {

constexpr std::uint64_t kUnit = RadixMap::kUnit.count();
constexpr std::uint64_t kEnd = std::uint64_t{1} << RadixMap::kAddressBits;

class RadixMapTest : public ::testing::Test {
 protected:
  std::unique_ptr<RadixMap> map_ = std::make_unique<RadixMap>();
};

TEST_F(RadixMapTest, EveryAddressOfAUnitIsFound) {
  ASSERT_TRUE(map_->Set(Address(5 * kUnit), Bytes(2 * kUnit), 7));
  EXPECT_EQ(map_->Find(Address(5 * kUnit - 1)), 0u);
  EXPECT_EQ(map_->Find(Address(5 * kUnit)), 7u);
  EXPECT_EQ(map_->Find(Address(7 * kUnit - 1)), 7u);
  EXPECT_EQ(map_->Find(Address(7 * kUnit)), 0u);
  ASSERT_TRUE(map_->Set(Address(6 * kUnit), Bytes(1), 0));
  EXPECT_EQ(map_->Find(Address(5 * kUnit)), 7u);
  EXPECT_EQ(map_->Find(Address(6 * kUnit)), 0u);
}

TEST_F(RadixMapTest, TheEndsOfTheAddressSpaceAreFoundAndNothingBeyond) {
  ASSERT_TRUE(map_->Set(Address(0), Bytes(kUnit), 1));
  ASSERT_TRUE(map_->Set(Address(kEnd - kUnit), Bytes(kUnit), 2));
  EXPECT_EQ(map_->Find(Address(0)), 1u);
  EXPECT_EQ(map_->Find(Address(kEnd - 1)), 2u);
  EXPECT_FALSE(map_->Set(Address(kEnd), Bytes(kUnit), 3));
  EXPECT_FALSE(map_->Set(Address(kEnd - kUnit), Bytes(kUnit + 1), 3));
  EXPECT_FALSE(map_->Set(Address(0), Bytes(~std::uint64_t{0}), 3));
  EXPECT_EQ(map_->Find(Address(kEnd - 1)), 2u);
  EXPECT_EQ(map_->Find(Address(kEnd)), 0u);
  EXPECT_EQ(map_->Find(Address(~std::uint64_t{0})), 0u);
}

TEST_F(RadixMapTest, RangesMayCrossTables) {
  constexpr std::uint64_t kTable = kUnit << 16;
  ASSERT_TRUE(map_->Set(Address(kTable - kUnit), Bytes(kTable + 2 * kUnit), 9));
  EXPECT_EQ(map_->Find(Address(kTable - kUnit)), 9u);
  EXPECT_EQ(map_->Find(Address(2 * kTable)), 9u);
  EXPECT_EQ(map_->Find(Address(2 * kTable + kUnit)), 0u);
}

TEST_F(RadixMapTest, IsAMapOfUnits) {
  std::mt19937_64 random(1);
  std::map<std::uint64_t, std::uint32_t> model;
  for (int turn = 0; turn < 20'000; ++turn) {
    const std::uint64_t unit = (random() % 4 << 15) + random() % 300;
    const std::uint64_t units = 1 + random() % 9;
    const auto number = static_cast<std::uint32_t>(random() % 3);
    ASSERT_TRUE(map_->Set(Address(unit * kUnit), Bytes(units * kUnit), number));
    for (std::uint64_t at = unit; at < unit + units; ++at) model[at] = number;
    const std::uint64_t asked = (random() % 4 << 15) + random() % 300;
    const auto known = model.find(asked);
    ASSERT_EQ(map_->Find(Address(asked * kUnit + random() % kUnit)),
              known == model.end() ? 0 : known->second);
  }
}

TEST_F(RadixMapTest, ReadersNeedNoLock) {
  constexpr std::uint32_t kUnits = 2'000;
  std::atomic<std::uint32_t> told{0};
  std::vector<std::thread> readers;
  std::atomic<std::uint32_t> wrong{0};
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      for (std::uint32_t last = 0; last < kUnits;) {
        last = told.load(std::memory_order_acquire);
        for (std::uint32_t n = 1; n <= last; n += 97)
          wrong += map_->Find(Address(n * kUnit << 8)) == n ? 0u : 1u;
      }
    });
  for (std::uint32_t n = 1; n <= kUnits; ++n) {
    ASSERT_TRUE(map_->Set(Address(n * kUnit << 8), Bytes(kUnit), n));
    told.store(n, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace cuheap
