// How large the file gets: an hour of training, and many live blocks.
#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::Heap;
using format::Signal;

class SizeTest : public LedgerTest {
 protected:
  std::uint64_t FileBytes() {
    ledger.Close();
    return FileView(destination).size();
  }
};

TEST_F(SizeTest, AnHourOfTrainingStaysBelow16MiB) {
  constexpr int kSteps = 40000;
  constexpr std::uint64_t kAllocations = 363;
  ASSERT_TRUE(Open());
  std::vector<SiteId> sites;
  for (std::uint64_t i = 0; i < kAllocations; ++i) {
    const std::uint64_t frames[8] = {i, 1, 2, 3, 4, 5, 6, 7};
    sites.push_back(ledger.InternSite(Heap::k_torch, 0, 0, 0, frames));
  }
  for (std::uint64_t i = 0; i < 300; ++i)
    Born((1 + i) << 32, 1 << 20, Heap::k_torch, 0, 0, sites[i]);  // weights and state
  for (int step = 0; step < kSteps; ++step) {
    // Activations are freed in reverse, gradients live across the step's end, as in a training
    // loop.
    for (std::uint64_t i = 1; i <= kAllocations; ++i)
      Born(i << 16, 512 * i, Heap::k_torch, 0, 0, sites[i - 1]);
    for (std::uint64_t i = kAllocations; i > 64; --i) Died(i << 16);
    ledger.Tick(Signal::k_backward);
    ledger.Tick(Signal::k_optimizer);
    for (std::uint64_t i = 1; i <= 64; ++i) Died(i << 16);
  }
  EXPECT_EQ(View().header().dropped.blocks.load(), 0u);
  EXPECT_LE(FileBytes(), (16_MiB).count());
}

TEST_F(SizeTest, AHundredThousandLiveBlocksStayBelow8MiB) {
  ASSERT_TRUE(Open());
  for (std::uint64_t i = 1; i <= 100000; ++i) Born(i << 12, 4096);
  EXPECT_EQ(View().Live().size(), 100000u);
  EXPECT_LE(FileBytes(), (8_MiB).count());
}

}  // namespace
}  // namespace cuheap::testing
