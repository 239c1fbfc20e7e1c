// Pages that nothing holds: the whole mappings inside free blocks. They are what can be given back,
// or remapped to where pages are missing.
//
// Small free blocks give first, so that large ones stay whole for large requests; in a block, the
// highest pages first, so that ranges shrink from the end.
// Pure. Threads: none of its own; callers lock.
#pragma once

#include "allocator/core/best_fit.h"
#include "allocator/core/growth_window.h"
#include "allocator/core/page_map.h"

namespace cuheap::core {

// Calls visit(BlockId, const Mapping&) for the idle mappings of a segment that lie outside
// `spared`, until it returns false. It must not change the tiling; whether it may be unmapped in
// time is the caller's business. REQUIRES: `pages` is the segment's.
template <class Visit>
void ForEachIdleMapping(BestFit& fit, SegmentId segment, const PageMap& pages, const Window& spared,
                        Visit&& visit) {
  bool goes_on = true;
  fit.ForEachFree([&](BlockId id) {
    const BestFit::Block& block = fit[id];
    if (!goes_on || block.segment != segment || block.bytes < pages.page()) return;
    const std::uint32_t first = pages.PageFrom(block.begin);
    for (std::uint32_t end = pages.PageOf(block.end()); goes_on && end > first;) {
      const Mapping mapping = pages.At(end - 1);
      end = mapping.first;
      const bool whole = mapping.first >= first && mapping.end() <= pages.PageOf(block.end());
      const bool is_spared = spared && pages.AddressOf(mapping.first) < spared.end() &&
                             pages.AddressOf(mapping.end()) > spared.begin;
      if (whole && !is_spared) goes_on = visit(id, mapping);
    }
  });
}

}  // namespace cuheap::core
