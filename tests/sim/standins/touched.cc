#include "tests/sim/standins/touched.h"

#include <algorithm>
#include <cstdlib>

namespace cuheap::sim_standin {
namespace {

constexpr std::int64_t kBitsOfByte = 8;

std::uint64_t BytesOf(std::int64_t elements, int bits) {
  return static_cast<std::uint64_t>((elements * bits + kBitsOfByte - 1) / kBitsOfByte);
}

// What is left when neighbours are taken together: elements in a run, and how the runs lie.
struct Runs {
  std::int64_t elements = 1;
  std::vector<Extent> outer;
};

Runs Coalesce(std::vector<Extent> extents) {
  std::erase_if(extents, [](const Extent& e) { return e.count == 1 || e.stride == 0; });
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.stride < b.stride; });
  Runs runs;
  for (const Extent& extent : extents) {
    if (runs.outer.empty() && extent.stride <= runs.elements) {
      runs.elements += (extent.count - 1) * extent.stride;
    } else {
      runs.outer.push_back(extent);
    }
  }
  return runs;
}

// The next place in the order of counting; false after the last.
bool Advance(const std::vector<Extent>& outer, std::vector<std::int64_t>* index) {
  for (std::size_t i = 0; i < outer.size(); ++i) {
    if (++(*index)[i] < outer[i].count) return true;
    (*index)[i] = 0;
  }
  return false;
}

}  // namespace

void Touched::Bytes(Access access, const void* base, std::uint64_t bytes) {
  if (base == nullptr || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uint64_t>(base);
  (access == Access::kWrite ? writes_ : reads_).push_back({begin, begin + bytes});
}

void Touched::Box(Access access, const void* base, std::vector<Extent> extents, int bits) {
  for (const Extent& extent : extents)
    if (extent.count <= 0) return;
  const Runs runs = Coalesce(std::move(extents));
  std::vector<std::int64_t> index(runs.outer.size());
  for (std::size_t piece = 0; piece < kMostPieces; ++piece) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * runs.outer[i].stride;
    const auto* first = static_cast<const char*>(base) + offset * bits / kBitsOfByte;
    Bytes(access, base == nullptr ? nullptr : first, BytesOf(runs.elements, bits));
    if (!Advance(runs.outer, &index)) return;
  }
}

void Touched::Add(Access access, const Matrix& matrix) {
  Box(access, matrix.base,
      {{matrix.rows, 1}, {matrix.columns, matrix.ld}, {matrix.batch, matrix.stride}}, matrix.bits);
}

void Touched::Vector(Access access, const void* base, std::int64_t count, std::int64_t increment,
                     int bits) {
  Box(access, base, {{count, std::abs(increment)}}, bits);
}

void Touched::Triangle(Access access, const Matrix& square, bool upper) {
  const std::int64_t pieces = std::min(square.columns, static_cast<std::int64_t>(kMostPieces));
  for (std::int64_t column = 0; column < pieces; ++column) {
    const std::int64_t first = column * square.ld + (upper ? 0 : column);
    const std::int64_t count = upper ? column + 1 : square.rows - column;
    if (square.base == nullptr) return;
    Bytes(access, static_cast<const char*>(square.base) + first * square.bits / kBitsOfByte,
          BytesOf(count, square.bits));
  }
}

std::vector<Touched::Range> Touched::Merged(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (merged.empty() || range.begin >= merged.back().end) {  // neighbours may be two blocks
      merged.push_back(range);
    } else {
      merged.back().end = std::max(merged.back().end, range.end);
    }
  }
  return merged;
}

std::vector<cuheap_sim_range> Touched::Ranges() const {
  const std::vector<Range> writes = Merged(writes_);
  std::vector<cuheap_sim_range> ranges;
  const auto add = [&](std::uint64_t begin, std::uint64_t end, int written) {
    if (begin < end) ranges.push_back({begin, end - begin, written});
  };
  auto write = writes.begin();
  for (const Range& read : Merged(reads_)) {
    std::uint64_t begin = read.begin;
    while (write != writes.end() && write->end <= begin) ++write;
    for (auto over = write; over != writes.end() && over->begin < read.end; ++over) {
      add(begin, over->begin, 0);
      begin = std::max(begin, over->end);
    }
    add(begin, read.end, 0);
  }
  for (const Range& range : writes) add(range.begin, range.end, 1);
  return ranges;
}

}  // namespace cuheap::sim_standin
