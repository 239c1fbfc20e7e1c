// The blocks that doors announced, ordered by address: which block contains an address, and of
// which heap is it. A treap in a private range: bounded, no malloc, O(log n).
//
// Threads: any; one lock inside, held for one operation. Blocks of the frameworks that place theirs
// inside (torch) are not kept here.
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"
#include "allocator/base/mutex.h"
#include "allocator/base/virtual_range.h"
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
  explicit constexpr BlockIndex(std::uint32_t most_blocks) : most_blocks_(most_blocks) {}

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
  using NodeId = std::uint32_t;  // 0 = none
  struct Node {
    Block block;
    NodeId left;
    NodeId right;
    std::uint32_t priority;
    std::uint32_t reserved;
  };

  Node& At(NodeId id) { return nodes_[id]; }
  NodeId NewNode(const Block& block);
  void Split(NodeId root, std::uint64_t key, NodeId* below, NodeId* from);
  NodeId Merge(NodeId below, NodeId above);
  NodeId LastBelow(std::uint64_t key);  // greatest begin < key
  NodeId FirstFrom(std::uint64_t key);  // smallest begin >= key
  NodeId FirstOverlapping(std::uint64_t begin, std::uint64_t end);
  NodeId AnyOf(NodeId root, DeviceId device);
  bool EraseLocked(std::uint64_t begin, Block* erased);
  bool InsertLocked(const Block& block);

  void CountChange();

  std::atomic<std::uint64_t> changes_{0};

  Mutex mutex_;  // guards what follows
  std::uint32_t most_blocks_ = 1u << 20;
  VirtualRange range_;
  Node* nodes_ = nullptr;
  NodeId root_ = 0;
  NodeId free_ = 0;  // chained by `left`
  NodeId used_ = 0;
  std::uint32_t random_ = 2463534242u;
  Block remembered_[kRemembered]{};
  std::uint32_t next_remembered_ = 0;
};

}  // namespace cuheap
