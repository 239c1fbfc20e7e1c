// Memory of one heap, for blocks of one kind: a best fit over segments, which are virtual ranges
// whose pages come and go, or driver allocations that stay as they are.
//
//   virtual segment   | live | free |      unmapped       |     pages behind "unmapped": none
//                     |  page  |  page  |  -  |  -  |  -  |
//
// A claim takes addresses out of reach of everybody else, so that their pages can be mapped, or
// unmapped, without a lock; then it is settled or abandoned.
//
// Laws: 1. An unmapped block has no page behind it, every other block has all (claims: some).
//       2. A claim that is abandoned leaves the range as it was, but for pages mapped meanwhile.
// No driver call here. Threads: none of its own; the device's lock.
#pragma once

#include <cstdint>

#include "allocator/base/ids.h"
#include "allocator/base/object_table.h"
#include "allocator/core/best_fit.h"
#include "allocator/core/growth_window.h"
#include "allocator/core/page_map.h"

namespace cuheap::pool {

struct Segment {
  Segment(core::SegmentId id_, std::uint64_t begin_, Bytes bytes_, Bytes page)
      : id(id_),
        begin(begin_),
        bytes(bytes_),
        pages(begin_,
              page == Bytes() ? 0 : static_cast<std::uint32_t>(bytes_.count() / page.count()),
              page == Bytes() ? Bytes(1) : page),
        is_virtual(page != Bytes()) {}

  core::SegmentId id;
  std::uint64_t begin;
  Bytes bytes;
  core::PageMap pages;  // of a virtual segment
  bool is_virtual;
};

struct Claim {
  Segment* segment = nullptr;
  core::BlockId block{};
  // What the claim is for; the block may be longer, to whole pages.
  std::uint64_t begin = 0;
  Bytes bytes;
  std::uint32_t missing_pages = 0;

  explicit operator bool() const { return segment != nullptr; }
};

struct PageRun {
  std::uint32_t first = 0;
  std::uint32_t pages = 0;
};

class Range {
 public:
  Range() = default;

  // None: nothing free is large enough. REQUIRES: bytes > 0; `alignment` a power of two.
  core::BlockId Allocate(Bytes bytes, Bytes alignment);
  void Free(core::BlockId block) { (void)fit_.Free(block); }
  const core::BestFit::Block& operator[](core::BlockId block) const { return fit_[block]; }

  // ---- segments. False: no room in the tables; nothing changed.
  bool AddVirtual(Address begin, Bytes bytes, Bytes page);
  bool AddDriver(Address begin, Bytes bytes);
  // A driver segment that nothing is held in leaves the range; false: there is none.
  bool TakeIdleDriver(Address* begin, Bytes* bytes);

  // ---- growth
  // The addresses that miss the fewest pages. None: no segment has room.
  Claim ClaimWindow(Bytes bytes, Bytes alignment);
  // The first pages of the claim, from an address on, that are missing; none: 0 pages.
  PageRun NextMissing(const Claim& claim) const;
  // The claim's block, cut to what was wanted. REQUIRES: no page is missing.
  core::BlockId Settle(const Claim& claim);
  void Abandon(const Claim& claim);

  // ---- shrinking
  // At most `most` idle pages that lie side by side. None: there are none.
  Claim ClaimIdle(std::uint32_t most);

  Bytes LargestFree() { return fit_.LargestFree(); }
  // Whole pages and driver segments that nothing holds, in bytes.
  Bytes Idle();
  // What has memory behind it.
  Bytes mapped() const {
    return fit_.Sum(core::BlockState::kFree) + fit_.Sum(core::BlockState::kLive);
  }
  bool has_segments() const { return segment_count_ > 0; }

  // The first run of mapped pages of a virtual segment that ends behind an address; false: none.
  bool NextMapped(std::uint64_t from, std::uint64_t* begin, Bytes* bytes) const;

  template <class Visit>  // visit(const Segment&)
  void ForEachSegment(Visit&& visit) const {
    segments_.ForEach([&](std::uint32_t, const Segment& segment) { visit(segment); });
  }
  template <class Visit>  // visit(const core::BestFit::Block&), of one segment, by address
  void ForEachBlock(const Segment& segment, Visit&& visit) const {
    for (core::BlockId id = fit_[segment.id].first; id; id = fit_[id].after) visit(fit_[id]);
  }

  // Nullptr, or the first law that does not hold.
  const char* FirstBrokenLaw();
  // Forgets everything: the driver did, too.
  void Clear();

 private:
  static constexpr std::uint32_t kMostBlocks = 1u << 22;
  static constexpr std::uint32_t kMostSegments = 1u << 14;

  bool Add(Address begin, Bytes bytes, Bytes page);
  Claim ClaimIn(Segment& segment, const core::Window& window);

  core::BestFit fit_{kMostBlocks, kMostSegments};
  ObjectTable<Segment> segments_{kMostSegments};
  std::uint32_t segment_count_ = 0;
};

}  // namespace cuheap::pool
