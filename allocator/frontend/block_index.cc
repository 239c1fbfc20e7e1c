#include "allocator/frontend/block_index.h"

#include <mutex>

namespace cuheap {
namespace {

constinit std::atomic<std::uint64_t> all_changes{0};

}  // namespace

void BlockIndex::CountChange() {
  changes_.store(all_changes.fetch_add(1, std::memory_order_relaxed) + 1,
                 std::memory_order_release);
}

bool BlockIndex::Insert(const Block& block) {
  const std::lock_guard lock(mutex_);
  return InsertLocked(block);
}

bool BlockIndex::Erase(std::uint64_t begin, Block* erased) {
  const std::lock_guard lock(mutex_);
  if (!EraseLocked(begin, erased)) return false;
  remembered_[next_remembered_++ % kRemembered] = *erased;
  return true;
}

void BlockIndex::Restore(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t back = 1; back <= kRemembered && back <= next_remembered_; ++back) {
    const Block& block = remembered_[(next_remembered_ - back) % kRemembered];
    if (block.begin != begin) continue;
    InsertLocked(block);
    return;
  }
}

bool BlockIndex::Find(std::uint64_t address, Block* found) {
  const std::lock_guard lock(mutex_);
  const NodeId id = FirstOverlapping(address, address + 1);
  if (id != 0) *found = At(id).block;
  return id != 0;
}

bool BlockIndex::TakeUnmarked(std::uint64_t begin, std::uint64_t end, Block* taken) {
  const std::lock_guard lock(mutex_);
  for (NodeId id = FirstOverlapping(begin, end); id != 0;) {
    Block& block = At(id).block;
    if (!block.serves) {
      block.serves = true;
      *taken = block;
      return true;
    }
    id = block.end < end ? FirstFrom(block.end) : 0;
    if (id != 0 && At(id).block.begin >= end) id = 0;
  }
  return false;
}

bool BlockIndex::EraseAnyOf(DeviceId device, Block* erased) {
  const std::lock_guard lock(mutex_);
  const NodeId id = AnyOf(root_, device);
  return id != 0 && EraseLocked(At(id).block.begin, erased);
}

bool BlockIndex::InsertLocked(const Block& block) {
  CountChange();
  Block gone;
  for (NodeId id = FirstOverlapping(block.begin, block.end); id != 0;
       id = FirstOverlapping(block.begin, block.end))
    EraseLocked(At(id).block.begin, &gone);
  const NodeId id = NewNode(block);
  if (id == 0) return false;
  NodeId below = 0;
  NodeId above = 0;
  Split(root_, block.begin, &below, &above);
  root_ = Merge(Merge(below, id), above);
  return true;
}

bool BlockIndex::EraseLocked(std::uint64_t begin, Block* erased) {
  CountChange();
  NodeId below = 0;
  NodeId rest = 0;
  NodeId found = 0;
  NodeId above = 0;
  Split(root_, begin, &below, &rest);
  Split(rest, begin + 1, &found, &above);
  root_ = Merge(below, above);
  if (found == 0) return false;
  *erased = At(found).block;
  At(found).left = free_;
  free_ = found;
  return true;
}

BlockIndex::NodeId BlockIndex::NewNode(const Block& block) {
  NodeId id = free_;
  if (id != 0) {
    free_ = At(id).left;
  } else {
    if (used_ >= most_blocks_) return 0;
    if (nodes_ == nullptr) {
      if (!range_.Reserve(Bytes((std::uint64_t{most_blocks_} + 1) * sizeof(Node)))) return 0;
      nodes_ = reinterpret_cast<Node*>(range_.data());
    }
    if (!range_.CommitUpTo(Bytes((std::uint64_t{used_} + 2) * sizeof(Node)))) return 0;
    id = ++used_;
  }
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  At(id) = {.block = block, .left = 0, .right = 0, .priority = random_, .reserved = 0};
  return id;
}

void BlockIndex::Split(NodeId root, std::uint64_t key, NodeId* below, NodeId* from) {
  if (root == 0) {
    *below = *from = 0;
  } else if (At(root).block.begin < key) {
    *below = root;
    Split(At(root).right, key, &At(root).right, from);
  } else {
    *from = root;
    Split(At(root).left, key, below, &At(root).left);
  }
}

BlockIndex::NodeId BlockIndex::Merge(NodeId below, NodeId above) {
  if (below == 0) return above;
  if (above == 0) return below;
  if (At(below).priority > At(above).priority) {
    At(below).right = Merge(At(below).right, above);
    return below;
  }
  At(above).left = Merge(below, At(above).left);
  return above;
}

BlockIndex::NodeId BlockIndex::LastBelow(std::uint64_t key) {
  NodeId best = 0;
  for (NodeId id = root_; id != 0;) {
    const bool below = At(id).block.begin < key;
    if (below) best = id;
    id = below ? At(id).right : At(id).left;
  }
  return best;
}

BlockIndex::NodeId BlockIndex::FirstFrom(std::uint64_t key) {
  NodeId best = 0;
  for (NodeId id = root_; id != 0;) {
    const bool from = At(id).block.begin >= key;
    if (from) best = id;
    id = from ? At(id).left : At(id).right;
  }
  return best;
}

BlockIndex::NodeId BlockIndex::FirstOverlapping(std::uint64_t begin, std::uint64_t end) {
  const NodeId before = LastBelow(begin + 1);
  if (before != 0 && At(before).block.end > begin) return before;
  const NodeId after = FirstFrom(begin + 1);
  return after != 0 && At(after).block.begin < end ? after : 0;
}

BlockIndex::NodeId BlockIndex::AnyOf(NodeId root, DeviceId device) {
  if (root == 0 || At(root).block.device == device) return root;
  const NodeId left = AnyOf(At(root).left, device);
  return left != 0 ? left : AnyOf(At(root).right, device);
}

}  // namespace cuheap
