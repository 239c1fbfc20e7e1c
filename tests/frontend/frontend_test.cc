#include "allocator/frontend/frontend.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "tests/frontend/fixture.h"

namespace cuheap {
namespace {

using format::Heap;

class FrontendTest : public testing::FolderTest {
 protected:
  void Start(std::vector<std::string> more = {}) {
    variables_ = {"CUHEAP_OUT=" + out(), "CUHEAP_SHM=" + (folder / "shm").string()};
    variables_.insert(variables_.end(), more.begin(), more.end());
    for (const std::string& variable : variables_) environment_.push_back(variable.c_str());
    environment_.push_back(nullptr);
    frontend_->Start(environment_.data());
  }
  void Born(std::uint64_t address, std::uint64_t bytes, Heap heap) {
    SeenBlock block;
    block.address = Address(address);
    block.block_bytes = Bytes(bytes);
    block.heap = heap;
    frontend_->BlockBorn(block);
  }
  static SeenBlock Memory(std::uint64_t address, std::uint64_t bytes) {
    SeenBlock block;
    block.address = Address(address);
    block.block_bytes = Bytes(bytes);
    return block;
  }
  std::vector<trace::Block> LiveBlocks() {
    frontend_->Stop();
    std::vector<trace::Block> live;
    for (const trace::Block& block : Read().blocks)
      if (block.free_time == 0) live.push_back(block);
    std::sort(live.begin(), live.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    return live;
  }

  std::vector<std::string> variables_;
  std::vector<const char*> environment_;
  std::unique_ptr<Frontend> frontend_ = std::make_unique<Frontend>();
};

TEST_F(FrontendTest, AProcessThatNeverTouchesMemoryLeavesNothing) {
  Start();
  frontend_->SafePoint();
  frontend_->Step();
  frontend_->Mark("here");
  frontend_->CountCall(Door::kRuntime);
  EXPECT_FALSE(frontend_->BlockDied(Heap::k_driver, Address(4096)));
  frontend_->Stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(FrontendTest, WhatIsOffStaysOff) {
  Start({"CUHEAP_OFF=1"});
  Born(4096, 4096, Heap::k_driver);
  frontend_->Stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(FrontendTest, BeforeStartEventsPass) {
  Born(4096, 4096, Heap::k_driver);
  EXPECT_FALSE(frontend_->BlockDied(Heap::k_driver, Address(4096)));
  frontend_->Stop();
}

TEST_F(FrontendTest, TheFirstBlockOpensTheTraceWithWhatWasCountedBefore) {
  Start({"CUHEAP_RUN_ID=run7", "RANK=3"});
  for (int i = 0; i < 5; ++i) frontend_->CountCall(Door::kLookup);
  Born(4096, 512, Heap::k_driver);
  frontend_->CountCall(Door::kRuntime);
  frontend_->Stop();
  const trace::Trace trace = Read();
  EXPECT_TRUE(trace.completeness.clean_close);
  EXPECT_EQ(trace.identity.run_id, "run7");
  EXPECT_EQ(trace.identity.rank, 3);
  EXPECT_EQ(trace.doors.entry_point_lookups, 5u);
  EXPECT_EQ(trace.doors.runtime_calls, 1u);
  ASSERT_EQ(trace.blocks.size(), 1u);
  EXPECT_EQ(trace.blocks[0].block_bytes, 512u);
}

TEST_F(FrontendTest, ABlockOfTorchMarksTheBlockAroundItAsASegment) {
  Start();
  Born(0x100000, 0x10000, Heap::k_driver);
  Born(0x200000, 0x10000, Heap::k_driver);
  Born(0x100200, 0x200, Heap::k_torch);
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(live[0].flags & format::kServedAsSegment, format::kServedAsSegment);
  EXPECT_EQ(live[0].segment_heap, Heap::k_torch);
  EXPECT_EQ(live[2].flags & format::kServedAsSegment, 0);
}

TEST_F(FrontendTest, ABlockOfTorchMarksEveryMappingUnderIt) {
  Start();
  for (std::uint64_t i = 0; i < 3; ++i) {
    frontend_->PhysicalCreated(i + 1, Memory(0, 0x1000));
    frontend_->PhysicalMapped(i + 1, Memory(0x100000 + i * 0x1000, 0x1000));
  }
  Born(0x100800, 0x1000, Heap::k_torch);
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 4u);
  for (const trace::Block& block : live)
    if (block.heap == Heap::k_vmm) {
      EXPECT_EQ((block.flags & format::kServedAsSegment) != 0, block.address < 0x102000)
          << std::hex << block.address;
    }
}

TEST_F(FrontendTest, AFreeThroughAnotherFamilyFindsItsBlock) {
  Start();
  Born(0x100000, 0x1000, Heap::k_async);
  EXPECT_TRUE(frontend_->BlockDied(Heap::k_driver, Address(0x100000)));
  EXPECT_FALSE(frontend_->BlockDied(Heap::k_driver, Address(0x100000)));
  EXPECT_TRUE(LiveBlocks().empty());
  EXPECT_EQ(Read().dropped.unknown_frees, 1u);
}

TEST_F(FrontendTest, ABlockWhoseFreeFailedLivesOnWithItsBirth) {
  Start();
  Born(0x100000, 0x1000, Heap::k_async);
  frontend_->BlockDied(Heap::k_driver, Address(0x100000));
  frontend_->BlockSurvived(Heap::k_driver, Address(0x100000));
  EXPECT_TRUE(frontend_->BlockDied(Heap::k_driver, Address(0x100000)));
  frontend_->BlockSurvived(Heap::k_driver, Address(0x100000));
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].heap, Heap::k_async);
}

TEST_F(FrontendTest, TheSumOfVmmBlocksIsThePhysicalMemory) {
  Start();
  frontend_->PhysicalCreated(1, Memory(0, 0x1000));
  frontend_->PhysicalCreated(2, Memory(0, 0x2000));
  frontend_->PhysicalMapped(1, Memory(0x100000, 0x1000));
  frontend_->PhysicalMapped(2, Memory(0x101000, 0x2000));
  frontend_->PhysicalUnmapped(0x100000, Bytes(0x3000));
  frontend_->PhysicalReleased(1);
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].block_bytes, 0x2000u);
  EXPECT_EQ(live[0].flags & format::kUnmapped, format::kUnmapped);
}

TEST_F(FrontendTest, ARefusedUnmapLeavesItsSegmentsServing) {
  Start();
  frontend_->PhysicalCreated(1, Memory(0, 0x1000));
  frontend_->PhysicalMapped(1, Memory(0x100000, 0x1000));
  Born(0x100000, 0x200, Heap::k_torch);
  frontend_->PhysicalUnmapped(0x100000, Bytes(0x1000));
  frontend_->PhysicalUnmapFailed(0x100000, Bytes(0x1000));
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 2u);
  for (const trace::Block& block : live)
    if (block.heap == Heap::k_vmm) {
      EXPECT_EQ(block.flags & format::kServedAsSegment, format::kServedAsSegment);
    }
}

TEST_F(FrontendTest, AResetDeviceHoldsNothing) {
  Start();
  for (std::uint64_t i = 0; i < 10; ++i) {
    SeenBlock block = Memory(0x100000 + i * 0x1000, 0x1000);
    block.device = DeviceId(static_cast<std::uint8_t>(i % 2));
    block.heap = i < 5 ? Heap::k_driver : Heap::k_managed;
    frontend_->BlockBorn(block);
  }
  frontend_->DeviceReset(DeviceId{1});
  const auto live = LiveBlocks();
  EXPECT_EQ(live.size(), 5u);
  for (const trace::Block& block : live) EXPECT_EQ(block.device, 0);
}

TEST_F(FrontendTest, AForkedChildTouchesNothingOfItsParents) {
  Start();
  Born(0x100000, 0x1000, Heap::k_driver);
  const pid_t child = fork();
  if (child == 0) {
    Born(0x200000, 0x1000, Heap::k_driver);
    const bool died = frontend_->BlockDied(Heap::k_driver, Address(0x100000));
    frontend_->Mark("child");
    frontend_->Stop();
    _exit(died ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto live = LiveBlocks();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].address, 0x100000u);
  EXPECT_TRUE(Read().marks.empty());
}

TEST_F(FrontendTest, AChildForkedBeforeTheFirstBlockHasATraceOfItsOwn) {
  Start();
  const pid_t child = fork();
  if (child == 0) {
    Born(0x200000, 0x1000, Heap::k_driver);
    frontend_->Stop();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.identity.pid, static_cast<std::uint32_t>(child));
  EXPECT_EQ(trace.blocks.size(), 1u);
}

TEST_F(FrontendTest, EventsAfterTheEndPass) {
  Start();
  Born(0x100000, 0x1000, Heap::k_driver);
  frontend_->Stop();
  frontend_->Stop();
  Born(0x200000, 0x1000, Heap::k_driver);
  EXPECT_FALSE(frontend_->BlockDied(Heap::k_driver, Address(0x100000)));
  EXPECT_EQ(LiveBlocks().size(), 1u);
}

TEST_F(FrontendTest, StepsAndMarksOfTheProgramAreKept) {
  Start();
  Born(0x100000, 0x1000, Heap::k_driver);
  for (int i = 0; i < 3; ++i) frontend_->Step();
  frontend_->Mark(std::string(300, 'x'));
  frontend_->Stop();
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.clock, format::Signal::k_program);
  EXPECT_EQ(trace.steps, 3u);
  ASSERT_EQ(std::count_if(trace.marks.begin(), trace.marks.end(),
                          [](const trace::Mark& mark) {
                            return mark.kind == format::MarkKind::kUser && mark.name.size() == 200;
                          }),
            1);
}

TEST_F(FrontendTest, BytesAreTheClockWhereNothingElseIs) {
  Start();
  for (std::uint64_t i = 0; i < 65; ++i) {
    Born(0x1000000, 1 << 20, Heap::k_driver);
    frontend_->BlockDied(Heap::k_driver, Address(0x1000000));
  }
  frontend_->Stop();
  EXPECT_EQ(Read().clock, format::Signal::k_bytes);
  EXPECT_EQ(Read().steps, 1u);
}

TEST_F(FrontendTest, NothingIsRecordedWhileNobodyWatches) {
  Start();
  Born(0x100000, 0x1000, Heap::k_driver);
  frontend_->Watch(false);
  Born(0x200000, 0x1000, Heap::k_driver);
  frontend_->Watch(true);
  EXPECT_EQ(LiveBlocks().size(), 1u);
}

TEST_F(FrontendTest, ThreadsThatStartTogetherOpenOneTrace) {
  Start();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([this, t] {
      for (std::uint64_t i = 0; i < 100; ++i) Born((t + 1) << 32 | i << 12, 0x1000, Heap::k_driver);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(LiveBlocks().size(), 800u);
}

TEST_F(FrontendTest, AnAllocationThatFailedForGoodIsAnInstant) {
  Start();
  SeenBlock request;
  request.requested_bytes = 64_GiB;
  frontend_->AllocationFailed(request);
  frontend_->Stop();
  const trace::Trace trace = Read();
  ASSERT_FALSE(trace.instants.empty());
  EXPECT_EQ(trace.instants[0].kind, format::InstantKind::kFirstOom);
  EXPECT_EQ(trace.instants[0].requested_bytes, Bytes(64_GiB).count());
}

}  // namespace
}  // namespace cuheap
