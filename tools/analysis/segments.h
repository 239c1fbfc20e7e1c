// Segments and what lies in them: holes, idle segments, and which live block keeps how much from
// use.
//
//   segment of the driver  |tensor|  hole  |tensor|tensor| hole |      -> holes; blame = holes / 3
//   for each tensor segment of the driver  |              nothing               |      -> idle:
//   what empty-cache returns
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/trace/trace.h"

namespace cuheap::analysis {

// A block that another heap uses, or is going to use, as a segment: not itself live.
bool IsSegment(const trace::Block& block);

struct SegmentFigures {  // of one heap that places blocks inside segments, on one device
  std::uint64_t segments = 0;
  std::uint64_t reserved = 0;
  std::uint64_t holes = 0;
  std::uint64_t idle = 0;
  std::uint64_t idle_segments = 0;
  std::uint64_t largest_hole = 0;
  std::uint64_t outside = 0;              // bytes of blocks that lie in no known segment
  std::map<std::uint32_t, double> blame;  // site -> free bytes that its blocks keep from use
};

// `alive` are the blocks of one device that are alive at the instant, segments included.
std::map<format::Heap, SegmentFigures> MeasureSegments(
    const std::vector<const trace::Block*>& alive);

}  // namespace cuheap::analysis
