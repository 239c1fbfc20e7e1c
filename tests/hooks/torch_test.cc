// The torch door, on stand-ins for libc10 and libc10_cuda in a local scope, as Python loads them.
#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

using format::Heap;

class TorchTest : public VictimTest {
 protected:
  static constexpr const char* kHost = "hook_plugin_host " CUHEAP_LIB "/hooks/libc10_cuda.so";
};

TEST_F(TorchTest, EverythingIsForwarded) { RunBothWays(kHost); }

TEST_F(TorchTest, BlocksInsideASegmentAreSeenAndTheSegmentIsNotLive) {
  Run(kHost);
  EXPECT_EQ(LiveBytes(Heap::k_torch), 3u * 512);
  int serving = 0;
  int expected = 0;
  for (const trace::Block& block : Live()) {
    serving += (block.flags & format::kServedAsSegment) != 0 ? 1 : 0;
    expected += (block.flags & format::kExpectSegment) != 0 ? 1 : 0;
  }
  EXPECT_EQ(serving, 1);
  EXPECT_EQ(expected, 1) << "what libc10_cuda asks for is a segment, used or not";
}

TEST_F(TorchTest, WithoutTorchsCacheWhatItAsksForIsLive) {
  Run(kHost, Watched::kYes, "PYTORCH_NO_CUDA_MEMORY_CACHING=1");
  for (const trace::Block& block : Live()) EXPECT_EQ(block.flags & format::kExpectSegment, 0);
}

TEST_F(TorchTest, OnlyTorchSaysWhenItsMemoryIsOut) {
  Run(kHost);
  std::vector<std::uint64_t> requests;
  for (const trace::Instant& instant : Read().instants)
    if (instant.kind == format::InstantKind::kFirstOom ||
        instant.kind == format::InstantKind::kLastOom)
      requests.push_back(instant.requested_bytes);
  ASSERT_FALSE(requests.empty());
  for (std::uint64_t bytes : requests) EXPECT_EQ(bytes, 77u);
}

TEST_F(TorchTest, HostMemoryIsNoneOfOurs) {
  Run(kHost);
  for (const trace::Block& block : Read().blocks) EXPECT_NE(block.block_bytes, 4096u);
}

}  // namespace
}  // namespace cuheap::testing
