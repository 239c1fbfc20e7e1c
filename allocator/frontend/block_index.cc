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
  const SlotId id = FirstOverlapping(address, address + 1);
  if (id != 0) *found = nodes_[id].block;
  return id != 0;
}

bool BlockIndex::TakeUnmarked(std::uint64_t begin, std::uint64_t end, Block* taken) {
  const std::lock_guard lock(mutex_);
  for (SlotId id = FirstOverlapping(begin, end); id != 0;) {
    Block& block = nodes_[id].block;
    if (!block.serves) {
      block.serves = true;
      *taken = block;
      return true;
    }
    id = block.end < end ? FirstFrom(block.end) : 0;
    if (id != 0 && nodes_[id].block.begin >= end) id = 0;
  }
  return false;
}

bool BlockIndex::EraseAnyOf(DeviceId device, Block* erased) {
  const std::lock_guard lock(mutex_);
  SlotId id = FirstFrom(0);
  while (id != 0 && nodes_[id].block.device != device) id = FirstFrom(nodes_[id].block.begin + 1);
  return id != 0 && EraseLocked(nodes_[id].block.begin, erased);
}

bool BlockIndex::InsertLocked(const Block& block) {
  CountChange();
  Block gone;
  for (SlotId id = FirstOverlapping(block.begin, block.end); id != 0;
       id = FirstOverlapping(block.begin, block.end))
    EraseLocked(nodes_[id].block.begin, &gone);
  const SlotId id = nodes_.Add({block, {}});
  if (id != 0) tree_.Insert(nodes_, id);
  return id != 0;
}

bool BlockIndex::EraseLocked(std::uint64_t begin, Block* erased) {
  CountChange();
  const SlotId id = FirstFrom(begin);
  if (id == 0 || nodes_[id].block.begin != begin) return false;
  *erased = nodes_[id].block;
  tree_.Erase(nodes_, id);
  nodes_.Remove(id);
  return true;
}

SlotId BlockIndex::FirstOverlapping(std::uint64_t begin, std::uint64_t end) {
  const SlotId before = tree_.LastBelow(nodes_, begin + 1);
  if (before != 0 && nodes_[before].block.end > begin) return before;
  const SlotId after = FirstFrom(begin + 1);
  return after != 0 && nodes_[after].block.begin < end ? after : 0;
}

}  // namespace cuheap
