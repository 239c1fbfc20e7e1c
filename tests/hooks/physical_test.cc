// Physical memory taken through an entry-point look-up.
#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

using format::Heap;
constexpr std::uint64_t kBytes = 2 << 20;

class PhysicalTest : public VictimTest {};

TEST_F(PhysicalTest, TheSumOfBlocksIsThePhysicalMemory) {
  RunBothWays("hook_victim physical");
  EXPECT_EQ(LiveBytes(Heap::k_vmm), 5 * kBytes) << "all but the one that was released";
  int unmapped = 0;
  for (const trace::Block& block : Live())
    unmapped += (block.flags & format::kUnmapped) != 0 ? 1 : 0;
  EXPECT_EQ(unmapped, 2) << "created only, and unmapped";
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.doors.entry_point_lookups, 6u);
  EXPECT_GT(trace.doors.driver_calls, 10u);
  EXPECT_EQ(trace.dropped.unknown_frees, 0u);
}

TEST_F(PhysicalTest, RefusedCallsChangeNothing) {
  RunBothWays("hook_victim refused");
  ASSERT_EQ(Live().size(), 1u);
  EXPECT_EQ(Live()[0].flags & format::kUnmapped, 0) << "still mapped";
  EXPECT_EQ(LiveBytes(Heap::k_vmm), kBytes);
  EXPECT_EQ(Read().instants.at(0).kind, format::InstantKind::kPeak);
}

TEST_F(PhysicalTest, LookUpsAnswerAsTheRealOnes) { RunBothWays("hook_victim look-ups"); }

}  // namespace
}  // namespace cuheap::testing
