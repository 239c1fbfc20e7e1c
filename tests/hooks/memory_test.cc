// Every family of the runtime's memory is seen, and the program does not notice.
#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

using format::Heap;
constexpr std::uint64_t kMiB = 1 << 20;

class MemoryTest : public VictimTest {};

TEST_F(MemoryTest, OfTwoBlocksTheOneThatWasKeptIsLive) {
  const struct {
    const char* name;
    Heap heap;
    std::uint64_t bytes;
  } families[] = {{"malloc", Heap::k_driver, kMiB},
                  {"managed", Heap::k_managed, kMiB},
                  {"host", Heap::k_pinned, 2 * kMiB},
                  {"registered", Heap::k_pinned, 1 << 16},
                  {"async", Heap::k_async, kMiB}};
  for (const auto& family : families) {
    SCOPED_TRACE(family.name);
    std::filesystem::remove(out_);
    EXPECT_EQ(RunBothWays("hook_victim " + std::string(family.name)).status, 0);
    EXPECT_EQ(LiveBytes(family.heap), family.bytes);
    const trace::Trace trace = Read();
    EXPECT_TRUE(trace.completeness.clean_close);
    EXPECT_EQ(trace.dropped.unknown_frees, 0u);
    std::uint64_t born = 0;
    for (const trace::Totals& totals : trace.totals) born += totals.blocks;
    EXPECT_EQ(born, family.bytes == 2 * kMiB ? 4u : 2u) << "each block is seen once";
  }
}

TEST_F(MemoryTest, PitchedMemoryCountsWithItsPitch) {
  for (const char* name : {"pitched", "volume"}) {
    std::filesystem::remove(out_);
    const Outcome outcome = RunBothWays(std::string("hook_victim ") + name);
    const std::string bytes = outcome.output.substr(outcome.output.find("bytes ") + 6);
    EXPECT_EQ(LiveBytes(Heap::k_driver), std::stoull(bytes)) << name;
    EXPECT_EQ(Live().at(0).requested_bytes, 5000u) << name;
  }
}

TEST_F(MemoryTest, MemoryMayBeFreedThroughAnotherFamily) {
  RunBothWays("hook_victim mixed");
  EXPECT_TRUE(Live().empty());
  EXPECT_EQ(Read().dropped.unknown_frees, 0u);
}

TEST_F(MemoryTest, CodesOutputsAndTheLastErrorAreTheRuntimesOwn) {
  RunBothWays("hook_victim wrong");
  EXPECT_TRUE(Live().empty()) << "what was freed twice is free";
}

TEST_F(MemoryTest, AnAllocationThatFailsIsAnInstant) {
  RunBothWays("hook_victim too-much");
  const trace::Trace trace = Read();
  ASSERT_FALSE(trace.instants.empty());
  EXPECT_EQ(trace.instants[0].kind, format::InstantKind::kFirstOom);
  EXPECT_EQ(trace.instants[0].requested_bytes, std::uint64_t{1} << 40);
  EXPECT_TRUE(trace.blocks.empty());
}

TEST_F(MemoryTest, BlocksAreChargedToTheirDevice) {
  Run("hook_victim devices");
  std::uint64_t blocks[2] = {};
  for (const trace::Block& block : Live()) ++blocks[block.device];
  EXPECT_EQ(blocks[0], 1u);
  EXPECT_EQ(blocks[1], 2u);
  const trace::Trace trace = Read();
  for (int device = 0; device < 2; ++device) {
    EXPECT_EQ(trace.devices[static_cast<std::size_t>(device)].total_bytes, 1u << 30);
    EXPECT_NE(trace.devices[static_cast<std::size_t>(device)].last.sample_time, 0u);
    EXPECT_FALSE(trace.devices[static_cast<std::size_t>(device)].pci_bus_id.empty());
  }
}

TEST_F(MemoryTest, ADeviceThatIsNotCurrentIsSampledToo) {
  for (const char* victim : {"hook_victim far-free", "hook_victim far-physical"}) {
    const Outcome outcome = RunBothWays(victim);
    const std::string used = outcome.output.substr(outcome.output.find("used ") + 5);
    EXPECT_EQ(Read().devices[1].last.used_bytes, std::stoull(used)) << victim;
  }
}

TEST_F(MemoryTest, ThePoolsFiguresComeWithStreamOrderedMemory) {
  Run("hook_victim async");
  const format::DeviceFigures last = Read().devices[0].last;
  EXPECT_GE(last.pool_reserved_bytes, kMiB);
  EXPECT_EQ(last.pool_used_bytes, kMiB);
}

TEST_F(MemoryTest, BlocksOfFourThreadsAddUp) {
  RunBothWays("hook_victim threads");
  EXPECT_EQ(LiveBytes(Heap::k_driver), 4u * 100 * 4096);
}

TEST_F(MemoryTest, TheLeakOfACProgramIsNamed) {
  EXPECT_EQ(RunBothWays("app_leak").output, "done\n");
  const trace::Trace trace = Read();
  EXPECT_EQ(LiveBytes(Heap::k_driver), kMiB);
  const trace::Site& site = trace.dictionary.site(Live().at(0).site);
  EXPECT_EQ(std::filesystem::path(trace.dictionary.module(site.owner).path).filename(), "app_leak");
  EXPECT_GE(site.frames.size(), 2u) << "allocate and main at least";
}

}  // namespace
}  // namespace cuheap::testing
