#include "allocator/frontend/physical_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace cuheap {
namespace {

constexpr std::uint64_t kBytes = 2u << 20;

// The records a ledger would hold.
class PhysicalMemoryTest : public ::testing::Test {
 protected:
  void Apply(const PhysicalMemory::Change& change) {
    if (change.died.valid) {
      EXPECT_EQ(records_.erase(change.died.address), 1u) << "a record died that was not there";
    }
    if (change.born.valid) {
      EXPECT_TRUE(records_.emplace(change.born.address, change.born).second);
    }
  }
  void TakeBack(const PhysicalMemory::Change& change) {
    if (change.born.valid) {
      EXPECT_EQ(records_.erase(change.born.address), 1u);
    }
    if (change.died.valid) {
      EXPECT_TRUE(records_.emplace(change.died.address, change.died).second);
    }
  }
  void Create(std::uint64_t handle) {
    ASSERT_TRUE(memory_->Created(handle, kBytes, DeviceId{1}));
    records_.emplace(handle,
                     PhysicalMemory::Record{
                         .valid = true, .address = handle, .bytes = kBytes, .unmapped = true});
  }
  void Map(std::uint64_t handle, std::uint64_t address) {
    Apply(memory_->Mapped(handle, address, kBytes));
  }
  std::uint64_t Unmap(std::uint64_t address) {
    std::uint64_t bytes = 0;
    Apply(memory_->Unmapped(address, &bytes));
    return bytes;
  }
  void Release(std::uint64_t handle) { Apply(memory_->Released(handle)); }
  std::uint64_t Bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [address, record] : records_) sum += record.bytes;
    return sum;
  }

  std::unique_ptr<PhysicalMemory> memory_ = std::make_unique<PhysicalMemory>();
  std::map<std::uint64_t, PhysicalMemory::Record> records_;
};

TEST_F(PhysicalMemoryTest, TheRecordFollowsTheMapping) {
  Create(7);
  EXPECT_TRUE(records_.at(7).unmapped);
  Map(7, 0x1000);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_FALSE(records_.at(0x1000).unmapped);
  EXPECT_EQ(records_.at(0x1000).device, DeviceId{1});
  EXPECT_EQ(Unmap(0x1000), kBytes);
  EXPECT_TRUE(records_.at(7).unmapped);
  Release(7);
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, MemoryReleasedWhileMappedLivesUntilItIsUnmapped) {
  Create(7);
  Map(7, 0x1000);
  Release(7);
  EXPECT_EQ(Bytes(), kBytes);
  Unmap(0x1000);
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, AHandleMappedTwiceIsOneBlock) {
  Create(7);
  Map(7, 0x1000);
  Map(7, 0x9000);
  EXPECT_EQ(Bytes(), kBytes);
  Unmap(0x1000);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_TRUE(records_.contains(0x9000)) << "the record moves to the mapping that is left";
  Unmap(0x9000);
  EXPECT_TRUE(records_.at(7).unmapped);
}

TEST_F(PhysicalMemoryTest, ARetainedHandleOutlivesOneRelease) {
  Create(7);
  memory_->Retained(7);
  Release(7);
  EXPECT_EQ(Bytes(), kBytes);
  Release(7);
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, ImportedMemoryIsBorrowedWhileItIsMapped) {
  memory_->Imported(9, DeviceId{0});
  EXPECT_TRUE(records_.empty());
  Map(9, 0x5000);
  EXPECT_EQ(records_.at(0x5000).heap, format::Heap::k_ipc);
  Unmap(0x5000);
  Release(9);
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, AHandleThatIsUsedAgainIsNewMemory) {
  Create(7);
  Release(7);
  Create(7);
  Map(7, 0x1000);
  EXPECT_EQ(Bytes(), kBytes);
}

TEST_F(PhysicalMemoryTest, ARefusedReleaseLeavesAllAsItWas) {
  Create(7);
  Release(7);
  TakeBack(memory_->ReleaseFailed(7));
  EXPECT_TRUE(records_.at(7).unmapped);
  Map(7, 0x1000);
  EXPECT_EQ(Bytes(), kBytes);
}

TEST_F(PhysicalMemoryTest, ARefusedUnmapLeavesAllAsItWas) {
  Create(7);
  Map(7, 0x1000);
  Unmap(0x1000);
  std::uint64_t bytes = 0;
  TakeBack(memory_->UnmapFailed(0x1000, &bytes));
  EXPECT_EQ(bytes, kBytes);
  EXPECT_FALSE(records_.at(0x1000).unmapped);
  EXPECT_EQ(Unmap(0x1000), kBytes);
  Release(7);
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, WhatWasNeverSeenChangesNothing) {
  Map(1, 0x1000);
  EXPECT_EQ(Unmap(0x1000), 0u);
  Release(1);
  TakeBack(memory_->ReleaseFailed(2));
  EXPECT_TRUE(records_.empty());
}

TEST_F(PhysicalMemoryTest, HandleZeroIsAHandle) {
  Create(0);
  Map(0, 0x1000);
  EXPECT_EQ(Bytes(), kBytes);
}

}  // namespace
}  // namespace cuheap
