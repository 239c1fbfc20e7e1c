// What a program sees of a pool: blocks, errors, what is given back.
#include "allocator/pool/pool.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/pool/fixture.h"

namespace cuheap::pool {
namespace {

constexpr AccountingRules kSmallDevice{.capacity = 256_MiB};

TEST(Pool, BlocksAreDistinctAlignedAndLargeEnough) {
  PoolOnAccounts t;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;
  for (std::uint64_t bytes = 1; bytes < 40'000'000; bytes = bytes * 5 / 3 + 1) {
    const Address address = t.Allocate(Bytes(bytes));
    EXPECT_EQ(Value(address) % 512, 0u);
    DeviceId device{};
    Bytes usable;
    ASSERT_TRUE(t.pool->Look(address, &device, &usable).ok());
    EXPECT_GE(usable, Bytes(bytes));
    for (const auto& [begin, end] : blocks)
      EXPECT_TRUE(Value(address) >= end || Value(address) + usable.count() <= begin);
    blocks.emplace_back(Value(address), Value(address) + usable.count());
  }
  for (const auto& block : blocks) EXPECT_TRUE(t.pool->Free(Address(block.first)).ok());
  EXPECT_EQ(t.Figures().live, Bytes());
}

TEST(Pool, ASmallBlockComesBackWithoutADriverCall) {
  PoolOnAccounts t({}, {.identity = StreamIdentity::kAnnounced});
  const Address first = t.Allocate(4_KiB);
  ASSERT_TRUE(t.pool->Free(first).ok());
  const std::uint64_t calls = t.Calls();
  for (int i = 0; i < 100; ++i) {
    const Address again = t.Allocate(4_KiB);
    EXPECT_TRUE(t.pool->Free(again).ok());
  }
  EXPECT_EQ(t.Calls(), calls);
}

TEST(Pool, ALargeBlockComesBackWithoutADriverCall) {
  PoolOnAccounts t({}, {.identity = StreamIdentity::kAnnounced});
  ASSERT_TRUE(t.pool->Free(t.Allocate(100_MiB)).ok());
  const std::uint64_t calls = t.Calls();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(t.pool->Free(t.Allocate(100_MiB)).ok());
  EXPECT_EQ(t.Calls(), calls);
}

TEST(Pool, AskingWhichStreamItIsIsTheOnlyDriverCallOfAHit) {
  PoolOnAccounts t;
  ASSERT_TRUE(t.pool->Free(t.Allocate(4_KiB)).ok());
  const std::uint64_t calls = t.Calls();
  const std::uint64_t looks = t.accounts.calls(DriverCall::kLookAt);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(t.pool->Free(t.Allocate(4_KiB)).ok());
  EXPECT_EQ(t.Calls() - calls, 100u);
  EXPECT_EQ(t.accounts.calls(DriverCall::kLookAt) - looks, 100u);
}

TEST(Pool, EmptyingAPoolWithoutLiveBlocksLeavesNothingReserved) {
  PoolOnAccounts t;
  std::vector<Address> blocks;
  for (const StreamHandle stream : {kStream, kOther})
    for (const Bytes bytes : {512_B, 70_KiB, 3_MiB, 100_MiB, 3_GiB})
      blocks.push_back(t.Allocate(bytes, stream));
  for (const Address block : blocks) EXPECT_TRUE(t.pool->Free(block).ok());
  const Bytes reserved = t.Figures().reserved;
  EXPECT_EQ(t.Empty().returned, reserved);
  EXPECT_EQ(t.Figures().reserved, Bytes());
  EXPECT_EQ(t.accounts.used(kDevice), Bytes());
}

TEST(Pool, EmptyingSaysWhichBlockKeepsWhat) {
  PoolOnAccounts t;
  const Address keeper = t.Allocate(2_MiB + 512_B);
  EXPECT_TRUE(t.pool->Free(t.Allocate(64_MiB)).ok());
  Stay stays[4];
  const EmptyResult result = t.Empty(stays);
  ASSERT_EQ(result.reasons, 1u);
  EXPECT_EQ(stays[0].reason, StayReason::kLive);
  EXPECT_EQ(stays[0].block, keeper);
  EXPECT_EQ(stays[0].bytes, 2_MiB - 512_B);
  EXPECT_EQ(result.stayed, stays[0].bytes);
  EXPECT_TRUE(t.pool->Free(keeper).ok());
}

TEST(Pool, EmptyingDrainsTheMagazinesOfAllThreadsDeadOnesToo) {
  PoolOnAccounts t;
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  const auto work = [&] {
    EXPECT_TRUE(t.pool->Free(t.Allocate(8_KiB)).ok());
    ++ready;
  };
  std::thread(work).join();
  std::thread living([&] {
    work();
    while (!go) std::this_thread::yield();
  });
  while (ready < 2) std::this_thread::yield();
  EXPECT_GT(t.Figures().cached, Bytes());
  t.Empty();
  EXPECT_EQ(t.Figures().reserved, Bytes());
  go = true;
  living.join();
}

TEST(Pool, BadSizesAndAlignmentsHaveTheirCodesAndHarmNothing) {
  PoolOnAccounts t(kSmallDevice);
  const Address kept = t.Allocate(4_MiB);
  EXPECT_TRUE(t.pool->Free(kept).ok());
  const Bytes reserved = t.Figures().reserved;
  EXPECT_EQ(t.Try(0_B), Code::kInvalid);
  for (const std::uint64_t bytes : {~0ull, ~0ull - 1, ~0ull - 511, ~0ull - 512, 1ull << 63,
                                    (1ull << 63) + 1, 1ull << 48, 1ull << 32, (1ull << 31) + 1})
    EXPECT_EQ(t.Try(Bytes(bytes)), Code::kOutOfMemory) << bytes;
  for (const std::uint64_t alignment : {513ull, 3000ull, 1ull << 63, 4ull << 20})
    EXPECT_EQ(t.Try(100_B, kStream, Bytes(alignment)), Code::kInvalid) << alignment;
  EXPECT_EQ(t.Figures().reserved, reserved) << "what cannot be served flushes nothing";
}

TEST(Pool, AlignmentIsKeptForEverySize) {
  PoolOnAccounts t;
  std::vector<Address> blocks;
  for (const std::uint64_t alignment : {1, 2, 16, 32, 256, 512, 4096, 65536, 2 << 20})
    for (const std::uint64_t bytes : {1, 100, 513, 5000, 65537, 300'000, 5'000'000}) {
      Address address{};
      ASSERT_TRUE(
          t.pool
              ->Allocate({.bytes = Bytes(bytes), .alignment = Bytes(alignment), .stream = kStream},
                         &address)
              .ok());
      EXPECT_EQ(Value(address) % alignment, 0u) << bytes;
      EXPECT_STREQ(t.pool->FirstBrokenLaw(), nullptr);
      blocks.push_back(address);
    }
  for (const Address block : blocks) EXPECT_TRUE(t.pool->Free(block).ok());
}

TEST(Pool, ForeignInteriorAndSecondFreesAreRefused) {
  PoolOnAccounts t;
  const Address block = t.Allocate(1000_B);
  const Address large = t.Allocate(10_MiB);
  int host = 0;
  for (const std::uint64_t bad :
       {Value(block) + 1, Value(block) + 256, Value(large) + 512, std::uint64_t{0x1234},
        reinterpret_cast<std::uint64_t>(&host), std::uint64_t{0}, ~std::uint64_t{0}})
    EXPECT_EQ(t.pool->Free(Address(bad)).code, Code::kForeign) << bad;
  EXPECT_TRUE(t.pool->Free(block).ok());
  EXPECT_EQ(t.pool->Free(block).code, Code::kNotLive);
  EXPECT_TRUE(t.pool->Free(large).ok());
  EXPECT_EQ(t.pool->Free(large).code, Code::kForeign);
}

TEST(Pool, OfTwoThreadsThatFreeTheSameBlockOneSucceeds) {
  PoolOnAccounts t;
  for (int round = 0; round < 200; ++round) {
    const Address block = t.Allocate(2_KiB);
    std::atomic<int> freed{0};
    const auto free = [&] { freed += t.pool->Free(block).ok() ? 1 : 0; };
    std::thread other(free);
    free();
    other.join();
    EXPECT_EQ(freed, 1);
  }
}

TEST(Pool, StreamsDoNotShareABlock) {
  PoolOnAccounts t;
  const Address block = t.Allocate(3_MiB, kStream);
  EXPECT_TRUE(t.pool->Free(block).ok());
  const Address other = t.Allocate(3_MiB, kOther);
  EXPECT_NE(other, block);
  EXPECT_TRUE(t.pool->Free(other).ok());
}

TEST(Pool, MemoryThatOneStreamFreedServesAnotherWhenTheDeviceIsFull) {
  PoolOnAccounts t(kSmallDevice);
  EXPECT_TRUE(t.pool->Free(t.Allocate(20_MiB, kStream)).ok());
  std::vector<Address> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(t.Allocate(31_MiB, kOther));
  for (const Address block : blocks) EXPECT_TRUE(t.pool->Free(block).ok());
  EXPECT_GT(t.Figures().moved_pages, 0u);
}

TEST(Pool, HolesServeALargeBlockByMovingTheirPages) {
  PoolOnAccounts t(kSmallDevice);
  std::vector<Address> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(t.Allocate(8_MiB));
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_TRUE(t.pool->Free(blocks[i]).ok());
  const Address large = t.Allocate(120_MiB);
  EXPECT_LE(t.Figures().reserved, 256_MiB);
  EXPECT_GT(t.Figures().moved_pages, 0u);
  EXPECT_TRUE(t.pool->Free(large).ok());
  for (std::size_t i = 1; i < blocks.size(); i += 2) EXPECT_TRUE(t.pool->Free(blocks[i]).ok());
}

TEST(Pool, ALimitIsKept) {
  PoolOnAccounts t({}, {.limit = 64_MiB});
  const Address block = t.Allocate(40_MiB);
  EXPECT_EQ(t.Try(40_MiB), Code::kOutOfMemory);
  EXPECT_LE(t.Figures().reserved, 64_MiB);
  EXPECT_EQ(t.Try(20_MiB), Code::kOk);
  EXPECT_TRUE(t.pool->Free(block).ok());
  EXPECT_EQ(t.Try(60_MiB), Code::kOk) << "the own cache counts as available";
}

TEST(Pool, GrowingSizesReserveLittleMoreThanTheLargest) {
  PoolOnAccounts t({}, {.identity = StreamIdentity::kAnnounced});
  constexpr std::uint64_t kTurns = 100'000;
  const auto size = [](std::uint64_t turn) { return Bytes((1 << 20) + 256 * turn); };
  for (std::uint64_t i = 0; i < kTurns; ++i) EXPECT_TRUE(t.pool->Free(t.Allocate(size(i))).ok());
  EXPECT_LE(t.Figures().reserved.count(), size(kTurns).count() * 13 / 10);
  EXPECT_LE(t.Calls(), 80u);
}

TEST(Pool, GrowingSizesOfTwoBlocksInTurnDoNotMovePagesForEver) {
  PoolOnAccounts t({}, {.identity = StreamIdentity::kAnnounced});
  Address last{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Address next = t.Allocate(Bytes((1 << 20) + 256 * i));
    if (last != Address{}) {
      EXPECT_TRUE(t.pool->Free(last).ok());
    }
    last = next;
  }
  EXPECT_LE(t.Calls(), 1000u);
  EXPECT_TRUE(t.pool->Free(last).ok());
}

TEST(Pool, DeviceMemoryThatMayNotMoveLiesInDriverAllocations) {
  PoolOnAccounts t({}, {.virtual_memory = false});
  std::vector<Address> blocks;
  for (const Bytes bytes : {512_B, 70_KiB, 3_MiB, 100_MiB}) blocks.push_back(t.Allocate(bytes));
  EXPECT_EQ(t.accounts.calls(DriverCall::kCreatePages), 0u);
  EXPECT_STREQ(t.pool->FirstBrokenLaw(), nullptr);
  for (const Address block : blocks) EXPECT_TRUE(t.pool->Free(block).ok());
  t.Empty();
  EXPECT_EQ(t.accounts.used(kDevice), Bytes());
}

TEST(Pool, ManagedMemoryStandsInWhenTheDeviceIsFull) {
  PoolOnAccounts t(kSmallDevice, {.managed_fallback = true});
  const Address all = t.Allocate(250_MiB);
  const Address more = t.Allocate(100_MiB);
  EXPECT_EQ(t.Figures().managed, 100_MiB);
  EXPECT_TRUE(t.pool->Free(more).ok());
  EXPECT_TRUE(t.pool->Free(all).ok());
  t.Empty();
  EXPECT_EQ(t.Figures().managed, Bytes());
}

TEST(Pool, AnotherDeviceMayUseEveryRunOfPagesThatIsMapped) {
  PoolOnAccounts t({.devices = 2, .capacity = 1_GiB});
  std::vector<Address> blocks;
  for (int i = 0; i < 140; ++i) blocks.push_back(t.Allocate(4_MiB));
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_TRUE(t.pool->Free(blocks[i]).ok());
  t.Empty();
  const std::uint64_t before = t.accounts.calls(DriverCall::kSetAccess);
  EXPECT_TRUE(t.pool->AllowAccess(kDevice, DeviceId{1}).ok());
  EXPECT_EQ(t.accounts.calls(DriverCall::kSetAccess) - before, blocks.size() / 2);
  for (std::size_t i = 1; i < blocks.size(); i += 2) EXPECT_TRUE(t.pool->Free(blocks[i]).ok());
}

TEST(Pool, PressureIsAskedBeforeARequestFails) {
  struct Program {
    PoolOnAccounts* t;
    Address held{};
  };
  PoolOnAccounts t(kSmallDevice);
  Program program{&t};
  t.pool->SetPressure(
      [](void* context, DeviceId, Bytes) {
        Program& p = *static_cast<Program*>(context);
        if (p.held != Address{}) {
          EXPECT_TRUE(p.t->pool->Free(p.held).ok());
        }
        p.held = {};
      },
      &program);
  program.held = t.Allocate(200_MiB);
  EXPECT_EQ(t.Try(200_MiB), Code::kOk);
  EXPECT_EQ(t.Try(300_MiB), Code::kOutOfMemory);
}

TEST(Pool, AfterItsEndWhatIsCachedStillServesAndFreesAreTaken) {
  PoolOnAccounts t({}, {.identity = StreamIdentity::kAnnounced});
  const Address small = t.Allocate(4_KiB);
  const Address large = t.Allocate(4_MiB);
  t.pool->Stop();
  const std::uint64_t calls = t.Calls();
  EXPECT_TRUE(t.pool->Free(small).ok());
  EXPECT_TRUE(t.pool->Free(large, kOther).ok());
  EXPECT_EQ(t.Try(4_KiB), Code::kOk);
  EXPECT_EQ(t.Try(400_MiB), Code::kGone);
  EXPECT_EQ(t.Calls(), calls);
  t.driver_is_gone = true;
}

TEST(Pool, AResetDeviceSwallowsItsFrees) {
  PoolOnAccounts t;
  const Address small = t.Allocate(4_KiB);
  const Address large = t.Allocate(4_MiB);
  EXPECT_TRUE(t.pool->Forget(kDevice).ok());
  EXPECT_TRUE(t.pool->Free(small).ok());
  EXPECT_TRUE(t.pool->Free(large).ok());
  EXPECT_EQ(t.Figures().reserved, Bytes());
  EXPECT_TRUE(t.pool->Free(t.Allocate(4_KiB)).ok());
  t.driver_is_gone = true;
}

}  // namespace
}  // namespace cuheap::pool
