#include "allocator/driver/latency_driver.h"

#include <gtest/gtest.h>

#include "allocator/driver/accounting_driver.h"

namespace cuheap {
namespace {

constexpr DeviceId kDevice{0};

class LatencyDriverTest : public ::testing::Test {
 protected:
  AccountingDriver below_{{.capacity = 4_GiB}};
  LatencyDriver driver_{below_};
};

TEST_F(LatencyDriverTest, ACallTakesWhatTheTableSays) {
  Address address{};
  ASSERT_TRUE(driver_.Allocate(kDevice, 1_MiB, &address).ok());
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kAllocate), 60'000u);
  ASSERT_TRUE(driver_.Free(kDevice, address).ok());
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kFree), 120'000u);
  EXPECT_EQ(driver_.calls(DriverCall::kFree), 1u);
  EXPECT_EQ(below_.used(kDevice), Bytes());
}

TEST_F(LatencyDriverTest, MemoryTakesTimeInProportion) {
  Address address{};
  ASSERT_TRUE(driver_.Allocate(kDevice, 1_GiB + 1_MiB, &address).ok());
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kAllocate), 560'000u);
  PagesHandle pages{};
  ASSERT_TRUE(driver_.CreatePages(kDevice, 20_MiB, {}, &pages).ok());
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kCreatePages), 1'930'000u);
}

TEST_F(LatencyDriverTest, AFailedCallTakesNothingForItsMemory) {
  Address address{};
  EXPECT_EQ(driver_.Allocate(kDevice, 100_GiB, &address).code, DriverCode::kOutOfMemory);
  EXPECT_EQ(driver_.calls(DriverCall::kAllocate), 1u);
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kAllocate), 60'000u);
}

TEST_F(LatencyDriverTest, CallsWithoutAFigureAreCountedAndTakeNoTime) {
  std::uint32_t count = 0;
  ASSERT_TRUE(driver_.CountDevices(&count).ok());
  EXPECT_EQ(LatencyOf(DriverCall::kCountDevices).source, LatencySource::kNone);
  EXPECT_EQ(driver_.calls(DriverCall::kCountDevices), 1u);
  EXPECT_EQ(driver_.nanoseconds(DriverCall::kCountDevices), 0u);
}

TEST_F(LatencyDriverTest, AFigureSaysWhereItComesFrom) {
  EXPECT_EQ(LatencyOf(DriverCall::kMap).source, LatencySource::kPublished);
  EXPECT_EQ(LatencyOf(DriverCall::kAllocate).source, LatencySource::kAssumed);
}

}  // namespace
}  // namespace cuheap
