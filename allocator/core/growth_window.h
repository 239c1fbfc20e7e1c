// Where a block that fits nowhere is made to fit with the fewest new pages: a window over free and
// unmapped blocks that lie side by side.
//
//   | live | free |  unmapped  | free | unmapped | live |
//             |<------ window ------>|          missing: the unmapped part, in whole pages
//
// The lowest of the windows that miss the fewest pages, among those that begin where one of the
// blocks begins or end where one ends: others miss no less. Costs the square of the blocks that lie
// side by side, which are few where free memory is mapped.
// Pure. Threads: none of its own; callers lock.
#pragma once

#include <cstdint>

#include "allocator/core/best_fit.h"

namespace cuheap::core {

struct Window {
  std::uint64_t begin = 0;
  Bytes bytes;    // 0: there is none
  Bytes missing;  // whole pages, all of them unmapped now

  std::uint64_t end() const { return begin + bytes.count(); }
  explicit operator bool() const { return bytes != Bytes(); }
};

// REQUIRES: unmapped blocks of the segment begin and end at multiples of `page`, a power of two.
Window FindWindow(const BestFit& fit, SegmentId segment, Bytes wanted, Bytes page);

}  // namespace cuheap::core
