// The blocks that doors announced, ordered by address: which block contains an address, and of
// which heap is it. Bounded, no malloc, O(log n).
//
// Threads: any; one lock inside, held for one operation. Blocks of the frameworks that place theirs
// inside (torch) are not kept here.
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"
#include "allocator/base/mutex.h"
#include "allocator/base/slot_table.h"
#include "allocator/base/treap.h"
#include "allocator/ledger/format.h"

namespace cuheap {

class BlockIndex {
 public:
  struct Block {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    format::Heap heap{};
    DeviceId device{};
    bool serves = false;  // another heap placed a block inside
  };

  constexpr BlockIndex() = default;
  explicit constexpr BlockIndex(std::uint32_t most_blocks) : nodes_(most_blocks) {}

  // Blocks that overlap the new one are forgotten: their end was not seen. False when there is no
  // room.
  bool Insert(const Block& block);
  // False when no block begins there.
  bool Erase(std::uint64_t begin, Block* erased);
  // Takes the last Erase of that address back, if it is among the latest kRemembered ones.
  void Restore(std::uint64_t begin);
  bool Find(std::uint64_t address, Block* found);

  // The first block that overlaps [begin, end) and does not serve yet is marked as serving and
  // returned; false when there is none.
  bool TakeUnmarked(std::uint64_t begin, std::uint64_t end, Block* taken);
  // Any block of that device, erased; false when none is left.
  bool EraseAnyOf(DeviceId device, Block* erased);

  // Another number after every change of any index of the process. No lock; not 0 once there was a
  // block.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  static constexpr std::uint32_t kRemembered = 1024;

 private:
  struct Node {
    Block block;
    TreapLinks links;
  };
  struct ByBegin {
    static TreapLinks& Links(Node& node) { return node.links; }
    static bool Less(const Node& a, const Node& b) { return a.block.begin < b.block.begin; }
    static bool Less(const Node& a, std::uint64_t begin) { return a.block.begin < begin; }
  };

  SlotId FirstFrom(std::uint64_t begin) { return tree_.FirstFrom(nodes_, begin); }
  SlotId FirstOverlapping(std::uint64_t begin, std::uint64_t end);
  bool EraseLocked(std::uint64_t begin, Block* erased);
  bool InsertLocked(const Block& block);

  void CountChange();

  std::atomic<std::uint64_t> changes_{0};

  Mutex mutex_;  // guards what follows
  SlotTable<Node> nodes_{1u << 20};
  Treap<Node, ByBegin> tree_;
  Block remembered_[kRemembered]{};
  std::uint32_t next_remembered_ = 0;
};

}  // namespace cuheap
