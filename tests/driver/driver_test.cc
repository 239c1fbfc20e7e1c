// What driver.h promises, of every driver: the accounts, and libcuda (here the simulated one).
#include "allocator/driver/driver.h"

#include <gtest/gtest.h>

#include <memory>

#include "allocator/driver/accounting_driver.h"
#include "allocator/driver/cuda_driver.h"
#include "allocator/driver/fault_driver.h"
#include "allocator/driver/latency_driver.h"

namespace cuheap {
namespace {

constexpr DeviceId kDevice{0};
constexpr DeviceId kNoDevice{63};
constexpr StreamHandle kStream{0};
constexpr Address kUntouched{77};

struct Accounts {
  AccountingDriver driver{{.devices = 2, .capacity = 1_GiB}};
};

struct Cuda {
  Cuda() { EXPECT_TRUE(driver.Start(CudaDriver::FindInLibcuda).ok()) << driver.missing(); }
  CudaDriver driver;
};

struct Wrapped {
  AccountingDriver below{{.devices = 2, .capacity = 1_GiB}};
  FaultDriver driver{below};
};

struct Timed {
  AccountingDriver below{{.devices = 2, .capacity = 1_GiB}};
  LatencyDriver driver{below};
};

template <class Maker>
class DriverTest : public ::testing::Test {
 protected:
  Bytes Free() {
    MemoryFigures figures;
    EXPECT_TRUE(driver().Figures(kDevice, &figures).ok());
    return figures.free;
  }
  Bytes Granule() {
    PageRules rules;
    EXPECT_TRUE(driver().AskGranule(kDevice, &rules).ok());
    return rules.granule;
  }
  PagesHandle Pages(Bytes bytes) {
    PagesHandle pages{};
    EXPECT_TRUE(driver().CreatePages(kDevice, bytes, {}, &pages).ok());
    return pages;
  }
  Address Range(Bytes bytes) {
    Address range{};
    EXPECT_TRUE(driver().Reserve(bytes, Granule(), &range).ok());
    return range;
  }
  Driver& driver() { return maker_.driver; }

 private:
  Maker maker_;
};

using Makers = ::testing::Types<Accounts, Cuda, Wrapped, Timed>;
TYPED_TEST_SUITE(DriverTest, Makers);

TYPED_TEST(DriverTest, MemoryIsTakenAndGivenBack) {
  Address address{};
  ASSERT_TRUE(this->driver().Allocate(kDevice, 20_MiB, &address).ok());
  const Bytes with = this->Free();
  EXPECT_EQ(Value(address) % 512, 0u);
  ASSERT_TRUE(this->driver().Free(kDevice, address).ok());
  EXPECT_EQ(this->Free(), with + 20_MiB);
  EXPECT_EQ(this->driver().Free(kDevice, address).code, DriverCode::kInvalid);
}

TYPED_TEST(DriverTest, WhatIsRefusedLeavesEverythingAsItWas) {
  Address address = kUntouched;
  (void)this->Free();  // the context takes memory of its own
  const Bytes before = this->Free();
  EXPECT_EQ(this->driver().Allocate(kDevice, Bytes(), &address).code, DriverCode::kInvalid);
  EXPECT_EQ(this->driver().Allocate(kNoDevice, 2_MiB, &address).code, DriverCode::kInvalid);
  EXPECT_EQ(this->driver().Allocate(kDevice, before + 1_B, &address).code,
            DriverCode::kOutOfMemory);
  EXPECT_EQ(this->driver().Allocate(kDevice, Bytes(~std::uint64_t{0}), &address).code,
            DriverCode::kOutOfMemory);
  EXPECT_EQ(this->driver().AllocateManaged(kDevice, Bytes(), &address).code, DriverCode::kInvalid);
  EXPECT_EQ(address, kUntouched);
  EXPECT_EQ(this->Free(), before);
}

TYPED_TEST(DriverTest, PagesCountFromTheirMakingUntilTheyAreMappedNowhere) {
  const Bytes granule = this->Granule();
  (void)this->Free();
  const Bytes before = this->Free();
  const Address range = this->Range(granule + granule);
  EXPECT_EQ(this->Free(), before);
  const PagesHandle pages = this->Pages(granule);
  EXPECT_EQ(this->Free(), before - granule);
  ASSERT_TRUE(this->driver().Map(range, granule, pages).ok());
  ASSERT_TRUE(this->driver().SetAccess(range, granule, 1).ok());
  ASSERT_TRUE(this->driver().DestroyPages(pages).ok());
  EXPECT_EQ(this->Free(), before - granule);
  ASSERT_TRUE(this->driver().Unmap(range, granule).ok());
  EXPECT_EQ(this->Free(), before);
  EXPECT_TRUE(this->driver().ReleaseRange(range, granule + granule).ok());
}

TYPED_TEST(DriverTest, PagesMoveFromOnePlaceToAnother) {
  const Bytes granule = this->Granule();
  const Address range = this->Range(granule + granule);
  const Address second = Address(Value(range) + granule.count());
  const PagesHandle pages = this->Pages(granule);
  ASSERT_TRUE(this->driver().Map(range, granule, pages).ok());
  ASSERT_TRUE(this->driver().Unmap(range, granule).ok());
  ASSERT_TRUE(this->driver().Map(second, granule, pages).ok());
  ASSERT_TRUE(this->driver().SetAccess(second, granule, 1).ok());
  EXPECT_EQ(this->driver().Unmap(range, granule).code, DriverCode::kInvalid);
  ASSERT_TRUE(this->driver().Unmap(second, granule).ok());
  ASSERT_TRUE(this->driver().DestroyPages(pages).ok());
  EXPECT_TRUE(this->driver().ReleaseRange(range, granule + granule).ok());
}

TYPED_TEST(DriverTest, WrongMappingsAreRefused) {
  const Bytes granule = this->Granule();
  const Address range = this->Range(granule);
  const PagesHandle pages = this->Pages(granule);
  Address untouched = kUntouched;
  EXPECT_EQ(this->driver().Reserve(granule + 1_B, granule, &untouched).code, DriverCode::kInvalid);
  EXPECT_EQ(this->driver().Reserve(Bytes(), granule, &untouched).code, DriverCode::kInvalid);
  EXPECT_EQ(untouched, kUntouched);
  EXPECT_EQ(this->driver().Map(Address(Value(range) + 512), granule, pages).code,
            DriverCode::kInvalid);
  EXPECT_EQ(this->driver().Map(Address(Value(range) + granule.count()), granule, pages).code,
            DriverCode::kInvalid);
  EXPECT_EQ(this->driver().SetAccess(range, granule, 1).code, DriverCode::kInvalid);
  ASSERT_TRUE(this->driver().Map(range, granule, pages).ok());
  EXPECT_EQ(this->driver().Map(range, granule, pages).code, DriverCode::kInvalid);
  EXPECT_EQ(this->driver().ReleaseRange(range, granule).code, DriverCode::kInvalid);
  ASSERT_TRUE(this->driver().Unmap(range, granule).ok());
  ASSERT_TRUE(this->driver().DestroyPages(pages).ok());
  EXPECT_EQ(this->driver().DestroyPages(pages).code, DriverCode::kInvalid);
  EXPECT_TRUE(this->driver().ReleaseRange(range, granule).ok());
}

TYPED_TEST(DriverTest, EventsAreReachedWhenTheWorkBeforeThemIs) {
  EventHandle event{};
  ASSERT_TRUE(this->driver().CreateEvent(kDevice, kStream, &event).ok());
  EXPECT_TRUE(this->driver().Query(event).ok()) << "never recorded";
  ASSERT_TRUE(this->driver().Record(kDevice, kStream, event).ok());
  EXPECT_TRUE(this->driver().Wait(event).ok());
  EXPECT_TRUE(this->driver().Query(event).ok());
  EXPECT_TRUE(this->driver().StreamWait(kDevice, kStream, event).ok());
  EXPECT_TRUE(this->driver().WaitForDevice(kDevice).ok());
  EXPECT_TRUE(this->driver().DestroyEvent(event).ok());
  EXPECT_EQ(this->driver().Query(event).code, DriverCode::kInvalid);
}

TYPED_TEST(DriverTest, ManagedMemoryIsNoMemoryOfTheDevice) {
  (void)this->Free();
  const Bytes before = this->Free();
  Address address{};
  ASSERT_TRUE(this->driver().AllocateManaged(kDevice, 3_GiB, &address).ok());
  EXPECT_EQ(this->Free(), before);
  EXPECT_TRUE(this->driver().Free(kDevice, address).ok());
}

TYPED_TEST(DriverTest, DevicesAreCounted) {
  std::uint32_t count = 0;
  ASSERT_TRUE(this->driver().CountDevices(&count).ok());
  EXPECT_EQ(count, 2u);
  StreamFacts facts{.id = StreamId(9), .capturing = true, .capture = 3};
  EXPECT_FALSE(this->driver().LookAt(kNoDevice, kStream, &facts).ok());
  EXPECT_EQ(facts.id, StreamId(9));
  ASSERT_TRUE(this->driver().LookAt(kDevice, kStream, &facts).ok());
  EXPECT_FALSE(facts.capturing);
}

}  // namespace
}  // namespace cuheap
