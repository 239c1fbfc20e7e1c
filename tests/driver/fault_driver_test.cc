#include "allocator/driver/fault_driver.h"

#include <gtest/gtest.h>

#include "allocator/driver/accounting_driver.h"

namespace cuheap {
namespace {

constexpr DeviceId kDevice{0};
constexpr DriverStatus kOutOfMemory{DriverCode::kOutOfMemory, 2};

class FaultDriverTest : public ::testing::Test {
 protected:
  DriverCode Allocate() {
    Address address{};
    return driver_.Allocate(kDevice, 2_MiB, &address).code;
  }
  DriverCode Ask() {
    MemoryFigures figures;
    return driver_.Figures(kDevice, &figures).code;
  }

  AccountingDriver below_{{}};
  FaultDriver driver_{below_};
};

TEST_F(FaultDriverTest, TheNthCallFailsAndDoesNotArrive) {
  driver_.FailNext(3, kOutOfMemory);
  EXPECT_EQ(Allocate(), DriverCode::kSuccess);
  EXPECT_EQ(Ask(), DriverCode::kSuccess);
  EXPECT_FALSE(driver_.failed());
  EXPECT_EQ(Allocate(), DriverCode::kOutOfMemory);
  EXPECT_TRUE(driver_.failed());
  EXPECT_EQ(Allocate(), DriverCode::kSuccess);
  EXPECT_EQ(below_.calls(DriverCall::kAllocate), 2u);
  EXPECT_EQ(below_.used(kDevice), 4_MiB);
}

TEST_F(FaultDriverTest, OneKindOfCallCounts) {
  driver_.FailNext(2, kOutOfMemory, DriverCall::kAllocate);
  EXPECT_EQ(Allocate(), DriverCode::kSuccess);
  EXPECT_EQ(Ask(), DriverCode::kSuccess);
  EXPECT_EQ(Ask(), DriverCode::kSuccess);
  EXPECT_EQ(Allocate(), DriverCode::kOutOfMemory);
}

TEST_F(FaultDriverTest, WithoutARuleNothingFails) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Allocate(), DriverCode::kSuccess);
  EXPECT_FALSE(driver_.failed());
}

TEST(AccountingDriverTest, PeaksAndObjectsAreCounted) {
  AccountingDriver driver({.capacity = 8_MiB});
  Address first{};
  Address second{};
  EXPECT_TRUE(driver.Allocate(kDevice, 3_MiB, &first).ok());
  EXPECT_TRUE(driver.Allocate(kDevice, 4_MiB, &second).ok());
  EXPECT_EQ(driver.peak(kDevice), 8_MiB);
  EXPECT_FALSE(driver.Allocate(kDevice, 1_B, &first).ok());
  EXPECT_EQ(driver.LiveObjects(), 2u);
  EXPECT_TRUE(driver.Free(kDevice, first).ok());
  EXPECT_TRUE(driver.Free(kDevice, second).ok());
  EXPECT_EQ(driver.used(kDevice), Bytes());
  EXPECT_EQ(driver.peak(kDevice), 8_MiB);
  EXPECT_EQ(driver.LiveObjects(), 0u);
}

TEST(DriverCallTest, CallsHaveNames) {
  EXPECT_STREQ(NameOf(DriverCall::kCountDevices), "CountDevices");
  EXPECT_STREQ(NameOf(DriverCall::kWaitForDevice), "WaitForDevice");
  EXPECT_EQ(kDriverCalls, 21u);
}

}  // namespace
}  // namespace cuheap
