#include "tests/core/best_fit_model.h"

#include <algorithm>

namespace cuheap::core {
namespace {

bool IsHeld(BlockState state) {
  return state == BlockState::kLive || state == BlockState::kWaiting;
}

}  // namespace

std::string BestFitModel::Run(const std::vector<Instruction>& instructions) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    Step(instructions[i]);
    Compare();
    if (!failure_.empty()) return "instruction " + std::to_string(i) + ": " + failure_;
  }
  return {};
}

std::string BestFitModel::End() {
  for (const BlockState state : {BlockState::kLive, BlockState::kWaiting})
    while (!In(state).empty() && failure_.empty()) {
      const std::size_t i = In(state).front();
      fit_.Free(extents_[i].id);
      extents_[i].state = BlockState::kFree;
      MergeAll();
      Compare();
    }
  while (!extents_.empty() && failure_.empty()) {
    RemoveSegment(0);
    Compare();
  }
  for (std::size_t state = 0; state < kBlockStates; ++state)
    if (fit_.Sum(static_cast<BlockState>(state)) != Bytes()) Fail("something is left");
  return failure_;
}

void BestFitModel::Step(const Instruction& instruction) {
  const std::uint64_t amount = std::uint64_t{instruction.amount} + 1;
  switch (instruction.what % 20) {
    case 0:
      return AddSegment(amount * 4, BlockState::kFree);
    case 1:
      return AddSegment(amount * 4, BlockState::kUnmapped);
    case 2:
      return RemoveSegment(instruction.which);
    case 3:
    case 4:
      return Remap(instruction, BlockState::kUnmapped, BlockState::kFree);
    case 5:
      return Remap(instruction, BlockState::kFree, BlockState::kUnmapped);
    case 6:
    case 7:
      return Wait(instruction.which);
    case 8:
    case 9:
    case 10:
    case 11:
      return Free(instruction.which);
    case 12:
      return AllocateAligned(amount, std::uint64_t{1} << instruction.which % 12);
    case 13:
    case 14:
      return Claim(instruction);
    case 15:
      return Trim(instruction);
    default:
      return Allocate(amount);
  }
}

void BestFitModel::AddSegment(std::uint64_t bytes, BlockState state) {
  const SegmentId id = fit_.AddSegment(next_segment_, Bytes(bytes), state);
  if (!id) return;
  extents_.push_back({next_segment_, bytes, state, next_segment_, fit_[id].first});
  next_segment_ += bytes + next_segment_ % 2;  // half of them touch the one before
}

void BestFitModel::RemoveSegment(std::uint16_t which) {
  if (extents_.empty()) return;
  const std::uint64_t segment = extents_[which % extents_.size()].segment;
  const auto is_of = [&](const Extent& extent) { return extent.segment == segment; };
  const bool held = std::any_of(extents_.begin(), extents_.end(), [&](const Extent& extent) {
    return is_of(extent) && IsHeld(extent.state);
  });
  if (fit_.RemoveSegment(fit_.Find(segment)) == held) Fail("only idle segments are removed");
  if (!held) std::erase_if(extents_, is_of);
}

void BestFitModel::Allocate(std::uint64_t bytes) {
  std::size_t best = extents_.size();
  for (const std::size_t i : In(BlockState::kFree)) {
    const bool fits = extents_[i].bytes >= bytes;
    if (fits && (best == extents_.size() || extents_[i].bytes < extents_[best].bytes)) best = i;
  }
  const BlockId id = fit_.Allocate(Bytes(bytes));
  if (!id) {
    const bool needs_room = best != extents_.size() && extents_[best].bytes != bytes;
    if (best != extents_.size() && !needs_room) Fail("nothing found where a block fits exactly");
    return;
  }
  if (best == extents_.size()) return Fail("found a block where none fits");
  Replace(best, extents_[best].begin, bytes, BlockState::kLive, id);
}

void BestFitModel::AllocateAligned(std::uint64_t bytes, std::uint64_t alignment) {
  const BlockId id = fit_.AllocateAligned(Bytes(bytes), Bytes(alignment));
  if (!id) return;
  const std::uint64_t begin = fit_[id].begin;
  if (begin % alignment != 0) Fail("not aligned");
  for (const std::size_t i : In(BlockState::kFree)) {
    const bool holds =
        extents_[i].begin <= begin && begin + bytes <= extents_[i].begin + extents_[i].bytes;
    if (holds) return Replace(i, begin, bytes, BlockState::kLive, id);
  }
  Fail("an aligned block where nothing is free");
}

void BestFitModel::Free(std::uint16_t which) {
  std::vector<std::size_t> held = In(BlockState::kLive);
  const std::vector<std::size_t> waiting = In(BlockState::kWaiting);
  held.insert(held.end(), waiting.begin(), waiting.end());
  if (held.empty()) return;
  Extent& extent = extents_[held[which % held.size()]];
  fit_.Free(extent.id);
  extent.state = BlockState::kFree;
  MergeAll();
}

void BestFitModel::Wait(std::uint16_t which) {
  const std::vector<std::size_t> live = In(BlockState::kLive);
  if (live.empty()) return;
  Extent& extent = extents_[live[which % live.size()]];
  fit_.SetWaiting(extent.id);
  extent.state = BlockState::kWaiting;
}

// Of the open extents that lie side by side from a chosen one on, a part.
void BestFitModel::Claim(const Instruction& instruction) {
  const auto is_open = [&](std::size_t i) { return !IsHeld(extents_[i].state); };
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    if (is_open(i)) open.push_back(i);
  if (open.empty()) return;
  const std::size_t first = open[instruction.which % open.size()];
  std::size_t behind = first + 1;
  while (behind < extents_.size() && is_open(behind) &&
         extents_[behind].segment == extents_[first].segment)
    ++behind;
  const std::uint64_t run_end = extents_[behind - 1].begin + extents_[behind - 1].bytes;
  const std::uint64_t begin = extents_[first].begin + instruction.amount % extents_[first].bytes;
  const std::uint64_t bytes = 1 + instruction.what * std::uint64_t{97} % (run_end - begin);
  const BlockId id = fit_.Claim(fit_.Find(extents_[first].segment), begin, Bytes(bytes));
  if (!id) return;
  while (extents_[first].begin + extents_[first].bytes < begin + bytes) {
    // Joined in the model under the state of the first: the part that is claimed has none.
    const std::uint64_t end = begin + bytes;
    Extent& next = extents_[first + 1];
    const std::uint64_t taken = std::min(next.begin + next.bytes, end) - next.begin;
    extents_[first].bytes += taken;
    next.begin += taken;
    next.bytes -= taken;
    if (next.bytes == 0) extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  }
  Replace(first, begin, bytes, BlockState::kLive, id);
}

void BestFitModel::Trim(const Instruction& instruction) {
  const std::vector<std::size_t> live = In(BlockState::kLive);
  if (live.empty()) return;
  const std::size_t i = live[instruction.which % live.size()];
  const Extent extent = extents_[i];
  const std::uint64_t begin = extent.begin + instruction.amount % extent.bytes;
  const std::uint64_t bytes = 1 + instruction.which % (extent.begin + extent.bytes - begin);
  if (!fit_.Trim(extent.id, begin, Bytes(bytes))) return;
  extents_[i].state = BlockState::kFree;
  Replace(i, begin, bytes, BlockState::kLive, extent.id);
  MergeAll();
}

void BestFitModel::Remap(const Instruction& instruction, BlockState from, BlockState to) {
  const std::vector<std::size_t> candidates = In(from);
  if (candidates.empty()) return;
  const std::size_t i = candidates[instruction.which % candidates.size()];
  const Extent extent = extents_[i];
  const std::uint64_t skip = instruction.amount % extent.bytes;
  const std::uint64_t bytes = 1 + instruction.which % (extent.bytes - skip);
  const BlockId id = to == BlockState::kFree
                         ? fit_.Map(extent.id, extent.begin + skip, Bytes(bytes))
                         : fit_.Unmap(extent.id, extent.begin + skip, Bytes(bytes));
  if (!id) {
    if (bytes == extent.bytes) Fail("the whole block needs no room");
    return;
  }
  Replace(i, extent.begin + skip, bytes, to, id);
  MergeAll();
}

void BestFitModel::Replace(std::size_t i, std::uint64_t begin, std::uint64_t bytes,
                           BlockState state, BlockId id) {
  const Extent old = extents_[i];
  const std::uint64_t end = begin + bytes;
  const std::uint64_t old_end = old.begin + old.bytes;
  const auto place = static_cast<std::ptrdiff_t>(i);
  extents_.erase(extents_.begin() + place);
  std::vector<Extent> parts;
  if (begin != old.begin)
    parts.push_back({old.begin, begin - old.begin, old.state, old.segment, {}});
  parts.push_back({begin, bytes, state, old.segment, id});
  if (end != old_end) parts.push_back({end, old_end - end, old.state, old.segment, {}});
  extents_.insert(extents_.begin() + place, parts.begin(), parts.end());
}

void BestFitModel::MergeAll() {
  for (std::size_t i = 1; i < extents_.size();) {
    Extent& before = extents_[i - 1];
    const Extent& extent = extents_[i];
    const bool merge =
        before.segment == extent.segment && before.state == extent.state && !IsHeld(extent.state);
    if (!merge) {
      ++i;
      continue;
    }
    before.bytes += extent.bytes;
    extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void BestFitModel::Compare() {
  if (const char* broken = fit_.FirstBrokenLaw()) return Fail(broken);
  std::size_t i = 0;
  std::uint64_t largest = 0;
  fit_.ForEachSegment([&](SegmentId segment) {
    for (BlockId id = fit_[segment].first; id; id = fit_[id].after, ++i) {
      const BestFit::Block& block = fit_[id];
      if (i == extents_.size()) return Fail("blocks that the model does not have");
      Extent& extent = extents_[i];
      const bool same = block.begin == extent.begin && block.bytes.count() == extent.bytes &&
                        block.state == extent.state;
      if (!same) return Fail("another block at " + std::to_string(extent.begin));
      if (IsHeld(block.state) && id != extent.id) return Fail("the number of a held block changed");
      extent.id = id;
      if (block.state == BlockState::kFree) largest = std::max(largest, extent.bytes);
    }
  });
  if (i != extents_.size()) Fail("blocks that only the model has");
  if (fit_.LargestFree() != Bytes(largest)) Fail("another largest free block");
}

std::vector<std::size_t> BestFitModel::In(BlockState state) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    if (extents_[i].state == state) found.push_back(i);
  return found;
}

}  // namespace cuheap::core
