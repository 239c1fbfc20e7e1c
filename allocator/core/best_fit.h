// Blocks of any size in segments: the smallest free block that is large enough, the lowest among
// equals; freed neighbours merge.
//
//   segment   | live | free |   live   | waiting |  unmapped  |
//
// A segment is a run of addresses that was added as one: a driver allocation, or a virtual range
// whose parts get and lose physical memory ("unmapped": none). Blocks never cross segments.
//
// Laws: 1. Blocks of a segment tile it: no gap, no overlap.
//       2. No two free neighbours, and no two unmapped ones.
//       3. A block is in exactly one state, and the sums over states are those of the blocks.
//       4. A call that fails changed nothing. Freeing never fails.
// Pure: addresses are numbers here, and nothing is behind them. Callers round sizes and addresses.
// Threads: none of its own; callers lock. Numbers of blocks are used again after a block is merged
// away, never while it is live or waiting.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/slot_table.h"
#include "allocator/base/treap.h"

namespace cuheap::core {

enum class BlockState : std::uint8_t { kFree, kLive, kWaiting, kUnmapped };
inline constexpr std::size_t kBlockStates = 4;

struct BlockId {
  SlotId slot = 0;
  explicit operator bool() const { return slot != 0; }
  friend bool operator==(BlockId, BlockId) = default;
};

struct SegmentId {
  SlotId slot = 0;
  explicit operator bool() const { return slot != 0; }
  friend bool operator==(SegmentId, SegmentId) = default;
};

class BestFit {
 public:
  struct Block {
    std::uint64_t begin = 0;
    Bytes bytes{};
    SegmentId segment{};
    BlockId before{};  // of the same segment
    BlockId after{};
    TreapLinks by_fit{};  // among the free blocks
    BlockState state{};

    std::uint64_t end() const { return begin + bytes.count(); }
  };

  struct Segment {
    std::uint64_t begin = 0;
    Bytes bytes{};
    BlockId first{};
    BlockId last{};
    std::uint32_t held_blocks = 0;  // live and waiting; 0: the segment is idle
    TreapLinks by_begin{};
  };

  BestFit() = default;
  BestFit(std::uint32_t most_blocks, std::uint32_t most_segments)
      : blocks_(most_blocks), segments_(most_segments) {}

  // One block, free or unmapped. None: no room in the tables.
  // REQUIRES: bytes > 0, and no overlap with another segment.
  SegmentId AddSegment(std::uint64_t begin, Bytes bytes, BlockState state);
  // False: blocks are held there.
  [[nodiscard]] bool RemoveSegment(SegmentId segment);

  // None: no free block is large enough, or the table is full. REQUIRES: bytes > 0.
  BlockId Allocate(Bytes bytes);
  // The same at a multiple of `alignment`, a power of two. Looks only at free blocks in which that
  // place is certain, so it may refuse where one would fit by luck.
  BlockId AllocateAligned(Bytes bytes, Bytes alignment);
  // The free block that Allocate would take from; none: none is large enough.
  BlockId Fitting(Bytes bytes);

  // All that is free or unmapped in [begin, begin + bytes) becomes one live block, so that nobody
  // else takes it while pages are mapped there without a lock. None: the table is full.
  // REQUIRES: nothing is held there, bytes > 0, and one segment.
  BlockId Claim(SegmentId segment, std::uint64_t begin, Bytes bytes);
  // What lies outside [begin, begin + bytes) of a live block becomes free. False: the table is full
  // and the block is as before. REQUIRES: bytes > 0, inside the block.
  [[nodiscard]] bool Trim(BlockId live, std::uint64_t begin, Bytes bytes);

  // A live block is freed, but a stream is not past it yet.
  void SetWaiting(BlockId block);
  // REQUIRES: live or waiting. The free block that it is part of now.
  BlockId Free(BlockId block);

  // Part of an unmapped block becomes free; part of a free block becomes unmapped. The block that
  // it is part of now; none: the table is full.
  // REQUIRES: the state, 0 < bytes, and [begin, begin + bytes) inside the block.
  BlockId Map(BlockId unmapped, std::uint64_t begin, Bytes bytes);
  BlockId Unmap(BlockId free, std::uint64_t begin, Bytes bytes);

  const Block& operator[](BlockId block) const { return blocks_[block.slot]; }
  const Segment& operator[](SegmentId segment) const { return segments_[segment.slot]; }
  // The segment that contains an address; none: none does.
  SegmentId Find(std::uint64_t address);

  Bytes Sum(BlockState state) const { return sums_[static_cast<std::size_t>(state)]; }
  Bytes LargestFree();

  template <class Visit>  // visit(SegmentId), by address
  void ForEachSegment(Visit&& visit) {
    by_begin_.ForEach(segments_, [&](SlotId slot) { visit(SegmentId{slot}); });
  }

  template <class Visit>  // visit(BlockId), the smallest first; it must not change the tiling
  void ForEachFree(Visit&& visit) {
    by_fit_.ForEach(blocks_, [&](SlotId slot) { visit(BlockId{slot}); });
  }

  // Forgets all segments and gives the tables' memory back.
  void Release() {
    blocks_.Release();
    segments_.Release();
    by_fit_ = {};
    by_begin_ = {};
    sums_ = {};
  }

  // Nullptr, or the first law that does not hold. Looks at every block.
  const char* FirstBrokenLaw();

 private:
  struct ByFit {
    static TreapLinks& Links(Block& block) { return block.by_fit; }
    static bool Less(const Block& a, const Block& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.begin < b.begin;
    }
    static bool Less(const Block& a, Bytes bytes) { return a.bytes < bytes; }
  };
  struct ByBegin {
    static TreapLinks& Links(Segment& segment) { return segment.by_begin; }
    static bool Less(const Segment& a, const Segment& b) { return a.begin < b.begin; }
    static bool Less(const Segment& a, std::uint64_t begin) { return a.begin < begin; }
  };

  Block& At(BlockId block) { return blocks_[block.slot]; }
  Segment& SegmentOf(const Block& block) { return segments_[block.segment.slot]; }
  void Enter(BlockId block);  // into the sums and the index of free blocks
  void Leave(BlockId block);
  // Cuts a block so that one begins at `at`; that one, or none: the table is full. It is in no sum.
  BlockId Cut(BlockId block, std::uint64_t at);
  // The same, but it is the front that becomes another block.
  BlockId CutFront(BlockId block, std::uint64_t at);
  BlockId Link(const Block& block);
  BlockId Recut(BlockId block, std::uint64_t begin, Bytes bytes, BlockState state);
  BlockId Settle(BlockId block);
  BlockId Containing(SegmentId segment, std::uint64_t address);
  void Absorb(BlockId block, BlockId after);
  const char* FirstBrokenOf(SegmentId segment, std::array<Bytes, kBlockStates>* sums);

  SlotTable<Block> blocks_{1u << 24};
  SlotTable<Segment> segments_{1u << 16};
  Treap<Block, ByFit> by_fit_;
  Treap<Segment, ByBegin> by_begin_;
  std::array<Bytes, kBlockStates> sums_{};
};

}  // namespace cuheap::core
