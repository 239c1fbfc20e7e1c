#include "allocator/pool/range.h"

#include <algorithm>

#include "allocator/core/idle_pages.h"

namespace cuheap::pool {

using core::BlockId;
using core::Window;
using State = core::BlockState;

namespace {

bool IsMapped(const core::PageMap& pages, std::uint32_t page) {
  return pages.At(page).handle != core::HandleId::kNone;
}

// The first pages of [first, end) that are mapped, or missing; none: 0 pages.
PageRun FirstRun(const core::PageMap& pages, std::uint32_t first, std::uint32_t end, bool mapped) {
  while (first < end && IsMapped(pages, first) != mapped) ++first;
  std::uint32_t behind = first;
  while (behind < end && IsMapped(pages, behind) == mapped) ++behind;
  return {first, behind - first};
}

}  // namespace

BlockId Range::Allocate(Bytes bytes, Bytes alignment) {
  constexpr Bytes kNatural = 512_B;
  return alignment <= kNatural ? fit_.Allocate(bytes) : fit_.AllocateAligned(bytes, alignment);
}

bool Range::Add(Address begin, Bytes bytes, Bytes page) {
  const bool is_virtual = page != Bytes();
  const core::SegmentId id =
      fit_.AddSegment(Value(begin), bytes, is_virtual ? State::kUnmapped : State::kFree);
  if (!id) return false;
  if (segments_.Make(id, Value(begin), bytes, page) == 0) {
    (void)fit_.RemoveSegment(id);
    return false;
  }
  ++segment_count_;
  return true;
}

bool Range::AddVirtual(Address begin, Bytes bytes, Bytes page) { return Add(begin, bytes, page); }
bool Range::AddDriver(Address begin, Bytes bytes) { return Add(begin, bytes, Bytes()); }

bool Range::TakeIdleDriver(Address* begin, Bytes* bytes) {
  std::uint32_t idle = 0;
  segments_.ForEach([&](std::uint32_t number, Segment& segment) {
    if (!segment.is_virtual && fit_[segment.id].held_blocks == 0) idle = number;
  });
  if (idle == 0) return false;
  *begin = Address(segments_[idle].begin);
  *bytes = segments_[idle].bytes;
  (void)fit_.RemoveSegment(segments_[idle].id);
  segments_.Destroy(idle);
  --segment_count_;
  return true;
}

Claim Range::ClaimWindow(Bytes bytes, Bytes alignment) {
  constexpr Bytes kNatural = 512_B;
  const Bytes wanted = alignment <= kNatural ? bytes : bytes + alignment - kNatural;
  Window best;
  Segment* home = nullptr;
  segments_.ForEach([&](std::uint32_t, Segment& segment) {
    if (!segment.is_virtual) return;
    const Window window = FindWindow(fit_, segment.id, wanted, segment.pages.page());
    if (!window || (home != nullptr && window.missing >= best.missing)) return;
    best = window;
    home = &segment;
  });
  if (home == nullptr) return {};
  Claim claim = ClaimIn(*home, best);
  if (alignment > kNatural) claim.begin = Bytes(best.begin).RoundedUpTo(alignment).count();
  claim.bytes = bytes;
  return claim;
}

// Where the window begins or ends inside a missing page, the claim takes the whole page: it is all
// unmapped, for unmapped blocks end at pages.
Claim Range::ClaimIn(Segment& segment, const Window& window) {
  const core::PageMap& pages = segment.pages;
  const auto is_missing = [&](std::uint64_t address) {
    return !IsMapped(pages, pages.PageOf(address));
  };
  std::uint64_t begin = window.begin;
  std::uint64_t end = window.end();
  if (is_missing(begin)) begin = pages.AddressOf(pages.PageOf(begin));
  if (is_missing(end - 1)) end = pages.AddressOf(pages.PageOf(end - 1) + 1);
  const BlockId block = fit_.Claim(segment.id, begin, Bytes(end - begin));
  if (!block) return {};
  const auto missing =
      static_cast<std::uint32_t>(window.missing.count() / segment.pages.page().count());
  return {&segment, block, window.begin, window.bytes, missing};
}

PageRun Range::NextMissing(const Claim& claim) const {
  const core::PageMap& pages = claim.segment->pages;
  const core::BestFit::Block& block = fit_[claim.block];
  return FirstRun(pages, pages.PageOf(block.begin), pages.PageFrom(block.end()), false);
}

BlockId Range::Settle(const Claim& claim) {
  // A table that is full leaves the block longer than it need be, which harms nobody.
  (void)fit_.Trim(claim.block, claim.begin, claim.bytes);
  return claim.block;
}

void Range::Abandon(const Claim& claim) {
  const core::PageMap& pages = claim.segment->pages;
  std::uint32_t page = pages.PageOf(fit_[claim.block].begin);
  const std::uint32_t end = pages.PageFrom(fit_[claim.block].end());
  BlockId free = fit_.Free(claim.block);
  for (;;) {
    const PageRun missing = FirstRun(pages, page, end, false);
    if (missing.pages == 0) return;
    page = missing.first + missing.pages;
    const std::uint64_t from = pages.AddressOf(missing.first);
    // The free block may have been cut by the run before: what is left lies behind it.
    while (fit_[free].end() <= from) free = fit_[free].after;
    const BlockId unmapped = fit_.Unmap(free, from, Bytes(pages.AddressOf(page) - from));
    if (!unmapped) return;
    free = fit_[unmapped].after;
  }
}

Claim Range::ClaimIdle(std::uint32_t most) {
  Claim claim;
  segments_.ForEach([&](std::uint32_t, Segment& segment) {
    if (claim || !segment.is_virtual) return;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    ForEachIdleMapping(fit_, segment.id, segment.pages, {},
                       [&](BlockId, const core::Mapping& mapping) {
                         if (count > 0 && mapping.end() != first) return false;
                         first = mapping.first;
                         count += mapping.pages;
                         return count < most;
                       });
    if (count == 0) return;
    const std::uint64_t begin = segment.pages.AddressOf(first);
    const Bytes bytes(count * segment.pages.page().count());
    const BlockId block = fit_.Claim(segment.id, begin, bytes);
    if (block) claim = {&segment, block, begin, bytes, 0};
  });
  return claim;
}

Bytes Range::Idle() {
  Bytes idle;
  segments_.ForEach([&](std::uint32_t, Segment& segment) {
    if (!segment.is_virtual) {
      if (fit_[segment.id].held_blocks == 0) idle += segment.bytes;
      return;
    }
    ForEachIdleMapping(fit_, segment.id, segment.pages, {},
                       [&](BlockId, const core::Mapping& mapping) {
                         idle += Bytes(mapping.pages * segment.pages.page().count());
                         return true;
                       });
  });
  return idle;
}

bool Range::NextMapped(std::uint64_t from, std::uint64_t* begin, Bytes* bytes) const {
  bool found = false;
  segments_.ForEach([&](std::uint32_t, const Segment& segment) {
    if (!segment.is_virtual || segment.pages.end() <= from) return;
    const PageRun run = FirstRun(segment.pages, segment.pages.PageOf(std::max(from, segment.begin)),
                                 segment.pages.pages(), true);
    const std::uint64_t address = segment.pages.AddressOf(run.first);
    if (run.pages == 0 || (found && address > *begin)) return;
    found = true;
    *begin = address;
    *bytes = Bytes(run.pages * segment.pages.page().count());
  });
  return found;
}

const char* Range::FirstBrokenLaw() {
  const char* broken = fit_.FirstBrokenLaw();
  segments_.ForEach([&](std::uint32_t, Segment& segment) {
    if (broken != nullptr || !segment.is_virtual) return;
    broken = segment.pages.FirstBrokenLaw();
    for (BlockId id = fit_[segment.id].first; id && broken == nullptr; id = fit_[id].after) {
      const core::BestFit::Block& block = fit_[id];
      for (std::uint32_t page = segment.pages.PageOf(block.begin);
           page < segment.pages.PageFrom(block.end()); ++page) {
        if (IsMapped(segment.pages, page) != (block.state != State::kUnmapped))
          broken = "range law 1: unmapped blocks have no page, others have all";
      }
    }
  });
  return broken;
}

void Range::Clear() {
  segments_.Clear();
  segment_count_ = 0;
  fit_.Release();
}

}  // namespace cuheap::pool
