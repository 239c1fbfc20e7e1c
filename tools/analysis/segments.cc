#include "tools/analysis/segments.h"

#include <algorithm>

namespace cuheap::analysis {
namespace {

using trace::Block;

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

std::uint64_t EndOf(const Block& block) {
  const std::uint64_t end = block.address + block.block_bytes;
  return end < block.address ? ~std::uint64_t{0} : end;
}

void SortByAddress(std::vector<const Block*>* blocks) {
  std::sort(blocks->begin(), blocks->end(), [](const Block* a, const Block* b) {
    return a->address != b->address ? a->address < b->address : a->birth_time < b->birth_time;
  });
}

// Blocks of one heap do not overlap. One that does is a stale record (or a hostile file): the sweep
// would be quadratic in them.
void DropOverlaps(std::vector<const Block*>* blocks) {
  std::uint64_t end = 0;
  std::erase_if(*blocks, [&end](const Block* block) {
    if (block->address < end) return true;
    end = EndOf(*block);
    return false;
  });
}

// One segment under the sweep: the blocks inside come in order of address, the gaps between them
// are holes.
class Sweep {
 public:
  Sweep(const Block& segment, SegmentFigures* figures, std::vector<Range>* holes)
      : segment_(segment), figures_(*figures), all_holes_(*holes), at_(segment.address) {}

  void Place(const Block& block) {
    Gap(std::max(block.address, segment_.address));
    at_ = std::max(at_, std::min(EndOf(block), EndOf(segment_)));
    inside_.push_back(&block);
  }

  void Close() {
    Gap(EndOf(segment_));
    ++figures_.segments;
    figures_.reserved += segment_.block_bytes;
    // What a graph captured stays with the graph, even while nothing lives in it.
    const bool pinned = !inside_.empty() || (segment_.flags & format::kInCapture) != 0;
    if (!pinned) {
      figures_.idle += free_bytes_;
      ++figures_.idle_segments;
      return;
    }
    figures_.holes += free_bytes_;
    all_holes_.insert(all_holes_.end(), holes_.begin(), holes_.end());
    for (const Block* block : inside_) {
      figures_.blame[block->site] +=
          static_cast<double>(free_bytes_) / static_cast<double>(inside_.size());
    }
  }

 private:
  void Gap(std::uint64_t end) {
    if (end <= at_) return;
    holes_.push_back({at_, end});
    free_bytes_ += end - at_;
    at_ = end;
  }

  const Block& segment_;
  SegmentFigures& figures_;
  std::vector<Range>& all_holes_;
  std::uint64_t at_;
  std::uint64_t free_bytes_ = 0;
  std::vector<Range> holes_;
  std::vector<const Block*> inside_;
};

// Mapped handles that lie side by side are one range to the heap that uses them, so holes join
// across their borders.
std::uint64_t LargestHole(std::vector<Range> holes) {
  std::sort(holes.begin(), holes.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t largest = 0;
  Range joined{0, 0};
  for (const Range& hole : holes) {
    joined = hole.begin == joined.end ? Range{joined.begin, hole.end} : hole;
    largest = std::max(largest, joined.end - joined.begin);
  }
  return largest;
}

SegmentFigures Measure(std::vector<const Block*> segments, std::vector<const Block*> inside) {
  SegmentFigures figures;
  SortByAddress(&segments);
  SortByAddress(&inside);
  std::vector<Range> holes;
  std::uint64_t placed = 0;
  std::uint64_t total = 0;
  for (const Block* block : inside) total += block->block_bytes;
  DropOverlaps(&segments);
  DropOverlaps(&inside);
  auto first = inside.begin();
  for (const Block* segment : segments) {
    Sweep sweep(*segment, &figures, &holes);
    // A block may span several mapped handles, so those that reach beyond this segment are looked
    // at again for the next.
    while (first != inside.end() && EndOf(**first) <= segment->address) ++first;
    for (auto block = first; block != inside.end() && (*block)->address < EndOf(*segment);
         ++block) {
      const std::uint64_t begin = std::max((*block)->address, segment->address);
      const std::uint64_t end = std::min(EndOf(**block), EndOf(*segment));
      if (begin >= end) continue;
      placed += end - begin;
      sweep.Place(**block);
    }
    sweep.Close();
  }
  figures.outside = total > placed ? total - placed : 0;
  figures.largest_hole = LargestHole(std::move(holes));
  return figures;
}

}  // namespace

bool IsSegment(const Block& block) {
  return (block.flags & (format::kServedAsSegment | format::kExpectSegment)) != 0;
}

std::map<format::Heap, SegmentFigures> MeasureSegments(const std::vector<const Block*>& alive) {
  std::map<format::Heap, std::vector<const Block*>> segments;
  std::map<format::Heap, std::vector<const Block*>> inside;
  for (const Block* block : alive) {
    if (IsSegment(*block) && (block->flags & format::kUnmapped) == 0)
      segments[block->segment_heap].push_back(block);
  }
  for (const Block* block : alive) {
    if (!IsSegment(*block) && segments.contains(block->heap)) inside[block->heap].push_back(block);
  }
  std::map<format::Heap, SegmentFigures> figures;
  for (auto& [heap, blocks] : segments)
    figures[heap] = Measure(std::move(blocks), std::move(inside[heap]));
  return figures;
}

}  // namespace cuheap::analysis
