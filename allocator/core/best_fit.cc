#include "allocator/core/best_fit.h"

namespace cuheap::core {
namespace {

bool IsHeld(BlockState state) {
  return state == BlockState::kLive || state == BlockState::kWaiting;
}

// Neighbours that would say the same twice.
bool MayMerge(const BestFit::Block& a, const BestFit::Block& b) {
  return a.state == b.state && !IsHeld(a.state);
}

}  // namespace

SegmentId BestFit::AddSegment(std::uint64_t begin, Bytes bytes, BlockState state) {
  const SegmentId segment{segments_.Add({.begin = begin, .bytes = bytes})};
  if (!segment) return {};
  const BlockId block = Link({.begin = begin, .bytes = bytes, .segment = segment, .state = state});
  if (!block) {
    segments_.Remove(segment.slot);
    return {};
  }
  by_begin_.Insert(segments_, segment.slot);
  Enter(block);
  return segment;
}

bool BestFit::RemoveSegment(SegmentId segment) {
  if (segments_[segment.slot].held_blocks != 0) return false;
  for (BlockId block = segments_[segment.slot].first; block;) {
    const BlockId after = At(block).after;
    Leave(block);
    blocks_.Remove(block.slot);
    block = after;
  }
  by_begin_.Erase(segments_, segment.slot);
  segments_.Remove(segment.slot);
  return true;
}

BlockId BestFit::Fitting(Bytes bytes) { return {by_fit_.FirstFrom(blocks_, bytes)}; }

BlockId BestFit::Allocate(Bytes bytes) {
  const BlockId block = Fitting(bytes);
  if (!block) return {};
  return Recut(block, At(block).begin, bytes, BlockState::kLive);
}

BlockId BestFit::AllocateAligned(Bytes bytes, Bytes alignment) {
  const BlockId exact = Fitting(bytes);
  if (exact && At(exact).begin % alignment.count() == 0)
    return Recut(exact, At(exact).begin, bytes, BlockState::kLive);
  const BlockId block = Fitting(bytes + alignment - 1_B);
  if (!block) return {};
  const Bytes begin = Bytes(At(block).begin).RoundedUpTo(alignment);
  return Recut(block, begin.count(), bytes, BlockState::kLive);
}

BlockId BestFit::Claim(SegmentId segment, std::uint64_t begin, Bytes bytes) {
  const std::uint64_t end = begin + bytes.count();
  BlockId first = Containing(segment, begin);
  if (begin != At(first).begin) {
    Leave(first);
    const BlockId cut = Cut(first, begin);
    Enter(first);
    if (!cut) return {};
    Enter(cut);
    first = cut;
  }
  BlockId last = first;
  while (At(last).end() < end) last = At(last).after;
  if (At(last).end() != end) {
    Leave(last);
    const BlockId behind = Cut(last, end);
    Enter(last);
    if (!behind) {
      Leave(first);
      Settle(first);
      return {};
    }
    Enter(behind);
  }
  Leave(first);
  while (At(first).end() < end) {
    const BlockId after = At(first).after;
    Leave(after);
    Absorb(first, after);
  }
  At(first).state = BlockState::kLive;
  Enter(first);
  return first;
}

bool BestFit::Trim(BlockId live, std::uint64_t begin, Bytes bytes) {
  const std::uint64_t end = begin + bytes.count();
  Leave(live);
  BlockId behind;
  if (end != At(live).end() && !(behind = Cut(live, end))) {
    Enter(live);
    return false;
  }
  // The block keeps its number: what lies before it is cut off as a new one.
  BlockId before;
  if (begin != At(live).begin && !(before = CutFront(live, begin))) {
    if (behind) Absorb(live, behind);
    Enter(live);
    return false;
  }
  Enter(live);
  for (const BlockId edge : {behind, before}) {
    if (!edge) continue;
    At(edge).state = BlockState::kFree;
    Settle(edge);
  }
  return true;
}

void BestFit::SetWaiting(BlockId block) {
  Leave(block);
  At(block).state = BlockState::kWaiting;
  Enter(block);
}

BlockId BestFit::Free(BlockId block) {
  Leave(block);
  At(block).state = BlockState::kFree;
  return Settle(block);
}

BlockId BestFit::Map(BlockId unmapped, std::uint64_t begin, Bytes bytes) {
  return Recut(unmapped, begin, bytes, BlockState::kFree);
}

BlockId BestFit::Unmap(BlockId free, std::uint64_t begin, Bytes bytes) {
  return Recut(free, begin, bytes, BlockState::kUnmapped);
}

SegmentId BestFit::Find(std::uint64_t address) {
  const SegmentId from{by_begin_.FirstFrom(segments_, address)};
  if (from && segments_[from.slot].begin == address) return from;
  const SegmentId below{by_begin_.LastBelow(segments_, address)};
  if (!below) return {};
  const Segment& segment = segments_[below.slot];
  return address - segment.begin < segment.bytes.count() ? below : SegmentId{};
}

Bytes BestFit::LargestFree() {
  const SlotId last = by_fit_.LastBelow(blocks_, Bytes(~std::uint64_t{0}));
  return last == 0 ? Bytes() : blocks_[last].bytes;
}

void BestFit::Enter(BlockId block) {
  const Block& entered = At(block);
  sums_[static_cast<std::size_t>(entered.state)] += entered.bytes;
  if (entered.state == BlockState::kFree) by_fit_.Insert(blocks_, block.slot);
  if (IsHeld(entered.state)) ++SegmentOf(entered).held_blocks;
}

void BestFit::Leave(BlockId block) {
  const Block& left = At(block);
  sums_[static_cast<std::size_t>(left.state)] -= left.bytes;
  if (left.state == BlockState::kFree) by_fit_.Erase(blocks_, block.slot);
  if (IsHeld(left.state)) --SegmentOf(left).held_blocks;
}

// Puts a new block between its neighbours. It is in no sum.
BlockId BestFit::Link(const Block& block) {
  const BlockId id{blocks_.Add(block)};
  if (!id) return {};
  (block.before ? At(block.before).after : SegmentOf(block).first) = id;
  (block.after ? At(block.after).before : SegmentOf(block).last) = id;
  return id;
}

BlockId BestFit::Cut(BlockId block, std::uint64_t at) {
  Block rest = At(block);
  rest.begin = at;
  rest.bytes = Bytes(At(block).end() - at);
  rest.before = block;
  const BlockId cut = Link(rest);
  if (cut) At(block).bytes -= rest.bytes;
  return cut;
}

BlockId BestFit::CutFront(BlockId block, std::uint64_t at) {
  Block front = At(block);
  front.bytes = Bytes(at - front.begin);
  front.after = block;
  const BlockId cut = Link(front);
  if (!cut) return {};
  At(block).begin = at;
  At(block).bytes -= front.bytes;
  return cut;
}

// The block that contains an address of the segment.
BlockId BestFit::Containing(SegmentId segment, std::uint64_t address) {
  BlockId block = segments_[segment.slot].first;
  while (At(block).end() <= address) block = At(block).after;
  return block;
}

// The middle of a block gets another state. A cut that was made is taken back when the next fails.
BlockId BestFit::Recut(BlockId block, std::uint64_t begin, Bytes bytes, BlockState state) {
  const std::uint64_t end = begin + bytes.count();
  Leave(block);
  const bool cuts_end = end != At(block).end();
  const BlockId behind = cuts_end ? Cut(block, end) : BlockId{};
  const bool cuts_begin = begin != At(block).begin && (behind || !cuts_end);
  const BlockId middle = cuts_begin ? Cut(block, begin) : block;
  if (!middle || (cuts_end && !behind)) {
    if (behind) Absorb(block, behind);
    Enter(block);
    return {};
  }
  if (cuts_begin) Enter(block);
  if (behind) Enter(behind);
  At(middle).state = state;
  return Settle(middle);
}

// `block` is in no sum yet. The block that it is part of now.
BlockId BestFit::Settle(BlockId block) {
  const BlockId before = At(block).before;
  const BlockId after = At(block).after;
  if (after && MayMerge(At(block), At(after))) {
    Leave(after);
    Absorb(block, after);
  }
  if (before && MayMerge(At(before), At(block))) {
    Leave(before);
    Absorb(before, block);
    block = before;
  }
  Enter(block);
  return block;
}

// Both are in no sum.
void BestFit::Absorb(BlockId block, BlockId after) {
  const Block gone = At(after);
  At(block).bytes += gone.bytes;
  At(block).after = gone.after;
  if (gone.after)
    At(gone.after).before = block;
  else
    SegmentOf(gone).last = block;
  blocks_.Remove(after.slot);
}

const char* BestFit::FirstBrokenOf(SegmentId id, std::array<Bytes, kBlockStates>* sums) {
  constexpr const char* kTiles = "law 1: blocks of a segment tile it";
  constexpr const char* kSums = "law 3: the sums are those of the blocks";
  const Segment& segment = segments_[id.slot];
  std::uint64_t at = segment.begin;
  std::uint32_t held = 0;
  BlockId before;
  for (BlockId place = segment.first; place; before = place, place = At(place).after) {
    const Block& block = At(place);
    const bool is_next = block.begin == at && block.before == before && block.segment == id;
    if (!is_next || block.bytes == Bytes()) return kTiles;
    if (before && MayMerge(At(before), block)) return "law 2: what may merge is merged";
    held += IsHeld(block.state) ? 1u : 0u;
    (*sums)[static_cast<std::size_t>(block.state)] += block.bytes;
    at = block.end();
  }
  if (at != segment.begin + segment.bytes.count() || before != segment.last) return kTiles;
  return held == segment.held_blocks ? nullptr : kSums;
}

const char* BestFit::FirstBrokenLaw() {
  const char* broken = nullptr;
  std::array<Bytes, kBlockStates> sums{};
  ForEachSegment([&](SegmentId segment) {
    if (broken == nullptr) broken = FirstBrokenOf(segment, &sums);
  });
  if (broken != nullptr) return broken;
  Bytes indexed;
  bool all_free = true;
  by_fit_.ForEach(blocks_, [&](SlotId slot) {
    indexed += blocks_[slot].bytes;
    all_free = all_free && blocks_[slot].state == BlockState::kFree;
  });
  const bool agree = sums == sums_ && all_free && indexed == Sum(BlockState::kFree);
  return agree ? nullptr : "law 3: the sums are those of the blocks";
}

}  // namespace cuheap::core
