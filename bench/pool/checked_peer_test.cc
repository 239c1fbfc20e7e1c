#include "bench/pool/checked_peer.h"

#include <gtest/gtest.h>

namespace cuheap::bench {
namespace {

char memory[4096];

// Hands out what it is told to.
class ScriptedPeer final : public Peer {
 public:
  void* Allocate(std::size_t, cudaStream_t) override { return next; }
  void Free(void*, std::size_t, cudaStream_t) override {}

  static inline void* next = nullptr;
};

class KeepingPeer final : public Peer {
 public:
  ~KeepingPeer() override { cudaMalloc(&kept, 1 << 20); }
  void* Allocate(std::size_t, cudaStream_t) override { return nullptr; }
  void Free(void*, std::size_t, cudaStream_t) override {}

  static inline void* kept = nullptr;
};

class CheckedPeerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(cudaFree(nullptr), cudaSuccess); }

  void* At(std::size_t offset, std::size_t bytes) {
    ScriptedPeer::next = memory + offset;
    return peer_->Allocate(bytes, nullptr);
  }
  void Free(void* block, std::size_t bytes) { peer_->Free(block, bytes, nullptr); }

  Complaints complaints_;
  std::unique_ptr<Peer> peer_ =
      std::make_unique<CheckedPeer>([]() -> Peer* { return new ScriptedPeer; }, complaints_);
};

TEST_F(CheckedPeerTest, BlocksThatTouchDoNotOverlap) {
  void* const blocks[] = {At(1024, 512), At(512, 512), At(1536, 512)};
  for (void* block : blocks) Free(block, 512);
  peer_.reset();
  EXPECT_EQ(complaints_.count(), 0U);
}

TEST_F(CheckedPeerTest, OverlapsFromBelowAndAboveAndTheSameBlockTwiceAreNoticed) {
  At(1024, 512);
  At(1000, 512);
  EXPECT_EQ(complaints_.count(), 1U);
  At(1535, 512);
  EXPECT_EQ(complaints_.count(), 2U);
  At(1024, 512);
  EXPECT_EQ(complaints_.count(), 3U);
}

TEST_F(CheckedPeerTest, AFreedBlockMayComeAgain) {
  Free(At(0, 512), 512);
  Free(At(0, 1024), 1024);
  EXPECT_EQ(complaints_.count(), 0U);
}

TEST_F(CheckedPeerTest, BlocksThatAreLeftAndFreesOfOthersAreNoticed) {
  At(0, 512);
  Free(memory + 512, 512);
  EXPECT_EQ(complaints_.count(), 1U);
  peer_.reset();
  EXPECT_EQ(complaints_.count(), 2U);
}

TEST_F(CheckedPeerTest, MemoryThatADestroyedPeerKeepsIsNoticed) {
  peer_ = std::make_unique<CheckedPeer>([]() -> Peer* { return new KeepingPeer; }, complaints_);
  peer_.reset();
  EXPECT_EQ(complaints_.count(), 1U);
  EXPECT_EQ(cudaFree(KeepingPeer::kept), cudaSuccess);
}

}  // namespace
}  // namespace cuheap::bench
