// Blocks: what is born is in the file, what died is gone, what serves as a segment is not live.
#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::Heap;
using format::InstantKind;

class BlocksTest : public LedgerTest {
 protected:
  void SetUp() override { ASSERT_TRUE(Open()); }
  std::uint64_t LiveGauge(int device = 0) {
    return View().header().devices[device].live_bytes.load();
  }
};

TEST_F(BlocksTest, ABirthIsInTheFileAtOnceAndADeathTakesItOut) {
  Born(0x1000, 512);
  Born(0x2000, 1024);
  EXPECT_EQ(View().Live().size(), 2u);
  const Death death = Died(0x1000);
  EXPECT_TRUE(death.known);
  EXPECT_EQ(death.block_bytes, 512_B);
  ASSERT_EQ(View().Live().size(), 1u);
  EXPECT_EQ(View().Live()[0].address, 0x2000u);
}

TEST_F(BlocksTest, BlocksOfTwoHeapsMayShareAnAddress) {
  Born(0x1000, 2 << 20, Heap::k_driver);
  Born(0x1000, 512, Heap::k_torch);
  EXPECT_EQ(View().Live().size(), 2u);
  EXPECT_EQ(Died(0x1000, Heap::k_torch).block_bytes, 512_B);
  EXPECT_EQ(Died(0x1000, Heap::k_driver).block_bytes, 2_MiB);
}

TEST_F(BlocksTest, AFreeOfAnUnknownBlockIsCounted) {
  EXPECT_FALSE(Died(0x1234).known);
  EXPECT_EQ(View().header().dropped.unknown_frees.load(), 1u);
}

TEST_F(BlocksTest, ASecondBirthAtAnAddressEndsTheFirst) {
  Born(0x1000, 512);
  Born(0x1000, 1024);
  ASSERT_EQ(View().Live().size(), 1u);
  EXPECT_EQ(View().Live()[0].bytes, 1024u);
  EXPECT_EQ(LiveGauge(), 1024u);
}

TEST_F(BlocksTest, NoTwoEventsHaveTheSameTimeEvenWhenTheClockStands) {
  Birth birth;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    birth.address = Address(i << 12);
    ledger.Born(birth);
  }
  std::map<std::uint64_t, int> times;
  for (const Block& block : View().Live()) ++times[block.birth];
  EXPECT_EQ(times.size(), 100u);
}

TEST_F(BlocksTest, ASegmentIsNotLiveFromTheMomentItServes) {
  Born(0x200000, 2 << 20, Heap::k_driver);
  EXPECT_EQ(LiveGauge(), 2u << 20);
  ledger.ServeAsSegment(Heap::k_driver, Address(0x200000), Heap::k_torch);
  ledger.ServeAsSegment(Heap::k_driver, Address(0x200000), Heap::k_torch);
  EXPECT_EQ(LiveGauge(), 0u);
  Born(0x200000, 4096);
  EXPECT_EQ(LiveGauge(), 4096u);
  Died(0x200000);
  Died(0x200000, Heap::k_driver);
  EXPECT_EQ(LiveGauge(), 0u);
}

TEST_F(BlocksTest, AnExpectedSegmentNeverRaisesThePeak) {
  Born(0x200000, 2 << 20, Heap::k_driver, 0, format::kExpectSegment);
  ledger.ServeAsSegment(Heap::k_driver, Address(0x200000), Heap::k_torch);
  Born(0x200000, 4096);
  EXPECT_EQ(View().header().devices[0].peak_live_bytes.load(), 4096u);
}

TEST_F(BlocksTest, ABlockThatTurnsOutToBeASegmentIsTakenOutOfWhatWasNotedBefore) {
  Born(0x1000, 4096);
  Born(0x200000, 2 << 20, Heap::k_driver);
  ledger.Tick(format::Signal::k_program);
  ledger.ServeAsSegment(Heap::k_driver, Address(0x200000), Heap::k_torch);
  const FileView view = View();
  EXPECT_EQ(view.header().devices[0].peak_live_bytes.load(), 4096u);
  EXPECT_EQ(view.Of(InstantKind::kStepEnd)[0].live[0], 4096u);
  EXPECT_EQ(view.Of(InstantKind::kPeak)[0].live[0], 4096u);
}

TEST_F(BlocksTest, PinnedAndManagedMemoryIsNoPartOfADevicesLiveBytes) {
  Born(0x1000, 4096, Heap::k_pinned);
  Born(0x2000, 4096, Heap::k_managed);
  EXPECT_EQ(LiveGauge(), 0u);
  EXPECT_EQ(View().Live().size(), 2u);
}

TEST_F(BlocksTest, AFailedFreeRestoresTheRecordWithItsBirthData) {
  Born(0x1000, 512);
  const Block before = View().Live()[0];
  ledger.Mark("pins the block");
  Died(0x1000);
  ledger.Undo(Heap::k_torch, Address(0x1000));
  ASSERT_EQ(View().Live().size(), 1u);
  EXPECT_EQ(View().Live()[0].birth, before.birth);
  EXPECT_EQ(LiveGauge(), 512u);
  EXPECT_EQ(View().LiveAt(View().Of(InstantKind::kMark)[0].time).size(), 1u) << "not twice";
  EXPECT_TRUE(Died(0x1000).known);
  EXPECT_EQ(View().Live().size(), 0u);
}

TEST_F(BlocksTest, AFailedFreeIsRestoredAfterItsRecordWasReused) {
  Born(0x1000, 512);
  const Block before = View().Live()[0];
  Died(0x1000);
  for (std::uint64_t i = 2; i < 102; ++i) Born(i << 12, 1024);
  ledger.Undo(Heap::k_torch, Address(0x1000));
  ledger.Undo(Heap::k_torch, Address(0x1000));
  ASSERT_EQ(View().Live().size(), 101u);
  for (const Block& block : View().Live()) {
    EXPECT_EQ(block.birth == before.birth, block.address == before.address);
  }
  EXPECT_EQ(LiveGauge(), 512u + 100 * 1024);
  EXPECT_EQ(View().header().devices[0].peak_live_bytes.load(), LiveGauge());
}

TEST_F(BlocksTest, MemoryThatIsMappedNowhereHasNoAddressToCollide) {
  Born(0, 2 << 20, Heap::k_vmm, 0, format::kUnmapped);
  Born(0, 2 << 20, Heap::k_vmm, 0, format::kUnmapped);
  EXPECT_EQ(View().Live().size(), 2u);
}

TEST_F(BlocksTest, ThePeakIsExactPerDevice) {
  Born(0x1000, 1000, Heap::k_torch, 0);
  Born(0x2000, 3000, Heap::k_torch, 1);
  Born(0x3000, 500, Heap::k_torch, 0);
  Died(0x1000);
  Born(0x4000, 900, Heap::k_torch, 0);
  const FileView view = View();
  EXPECT_EQ(view.header().devices[0].peak_live_bytes.load(), 1500u);
  EXPECT_EQ(view.header().devices[1].peak_live_bytes.load(), 3000u);
  for (const Instant& peak : view.Of(InstantKind::kPeak)) {
    std::uint64_t bytes = 0;
    for (const Block& block : view.LiveAt(peak.time))
      bytes += block.device == peak.device ? block.bytes : 0;
    EXPECT_EQ(bytes, view.header().devices[peak.device].peak_live_bytes.load());
    EXPECT_EQ(bytes, peak.live[peak.device]);
  }
}

TEST_F(BlocksTest, DevicesBeyondTheTableAreCountedNotRecorded) {
  EXPECT_EQ(Born(0x1000, 512, Heap::k_torch, 16), RecordId::kNone);
  EXPECT_EQ(View().header().dropped.devices.load(), 1u);
}

TEST_F(BlocksTest, TotalsOfASiteOutliveItsRecords) {
  const SiteId site =
      ledger.InternSite(Heap::k_torch, 0, 0, 0, std::vector<std::uint64_t>{1, 2, 3});
  EXPECT_EQ(site, ledger.InternSite(Heap::k_torch, 0, 0, 0, std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_NE(site, ledger.InternSite(Heap::k_torch, 0, 0, 0, std::vector<std::uint64_t>{1, 2}));
  for (int i = 0; i < 1000; ++i) {
    Born(0x1000, 512, Heap::k_torch, 0, 0, site);
    Died(0x1000);
  }
  EXPECT_EQ(View().site_blocks().at(Value(site)), 1000u);
  EXPECT_LE(View().blocks().size(), 3u) << "one record is reused, the peak keeps one";
}

TEST_F(BlocksTest, BeyondTheSiteLimitALeafAndItsOwnerRemain) {
  Ledger small;
  LedgerOptions options = Options();
  options.max_sites = 4;
  ASSERT_TRUE(small.Open(options, clock));
  std::uint32_t overflow = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const SiteId site = small.InternSite(Heap::k_torch, 1, 0, 0, std::vector<std::uint64_t>{7, i});
    if (i < 4) continue;
    if (overflow == 0) overflow = Value(site);
    EXPECT_EQ(Value(site), overflow) << "same leaf, same owner";
  }
  EXPECT_EQ(FileView(small.file_path()).header().dropped.sites.load(), 6u);
}

}  // namespace
}  // namespace cuheap::testing
