#include "tests/sim/engine/copy_bytes.h"

#include <algorithm>
#include <cstring>

namespace cuheap::sim {
namespace {

// One side of a copy.
struct Side {
  std::uintptr_t start;
  std::uint64_t pitch;
  std::uint64_t slice;
  const ArraySide* tiled;  // null: rows and planes lie at their pitches

  std::uintptr_t At(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    if (tiled == nullptr) return start + z * slice + y * pitch + x;
    return tiled->base + tiled->tiling.OffsetOf(tiled->x + x, tiled->y + y, tiled->z + z);
  }
  std::uint64_t RunAt(std::uint64_t x) const {
    return tiled == nullptr ? UINT64_MAX : tiled->tiling.RunAt(tiled->x + x);
  }
};

const ArraySide* Tiled(const std::shared_ptr<const ArraySide>& side) {
  return side != nullptr && side->tiling.row_bytes != 0 ? side.get() : nullptr;
}

Side SourceOf(const CopyOp& copy) {
  return {copy.from, copy.from_pitch, copy.from_slice, Tiled(copy.from_array)};
}

Side TargetOf(const CopyOp& copy) {
  return {copy.to, copy.to_pitch, copy.to_slice, Tiled(copy.to_array)};
}

void CopyRow(const Side& to, const Side& from, std::uint64_t width, std::uint64_t y,
             std::uint64_t z) {
  for (std::uint64_t x = 0; x < width;) {
    const std::uint64_t bytes = std::min({width - x, to.RunAt(x), from.RunAt(x)});
    std::memmove(reinterpret_cast<void*>(to.At(x, y, z)),
                 reinterpret_cast<const void*>(from.At(x, y, z)), bytes);
    x += bytes;
  }
}

constexpr std::uint64_t kMostRows = 1 << 16;

// Row by row, so that nobody is said to touch what lies between the rows of a box. Of very many
// rows it is said all the same.
void AddSide(const CopyOp& copy, const Side& side, bool writes, std::vector<TouchedRange>* list) {
  std::vector<TouchedRange> pieces;
  if (side.tiled == nullptr && copy.height > kMostRows / copy.depth) {
    list->push_back(
        {side.start, side.At(copy.width, copy.height - 1, copy.depth - 1) - side.start, writes});
    return;
  }
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      for (std::uint64_t x = 0; x < copy.width;) {
        const std::uint64_t bytes = std::min(copy.width - x, side.RunAt(x));
        pieces.push_back({side.At(x, y, z), bytes, writes});
        x += bytes;
      }
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const TouchedRange& a, const TouchedRange& b) { return a.base < b.base; });
  const std::size_t first = list->size();
  for (const TouchedRange& piece : pieces) {
    if (list->size() > first && list->back().base + list->back().bytes >= piece.base) {
      const std::uintptr_t end =
          std::max(list->back().base + list->back().bytes, piece.base + piece.bytes);
      list->back().bytes = end - list->back().base;
    } else {
      list->push_back(piece);
    }
  }
}

}  // namespace

void CopyBytes(const CopyOp& copy) {
  if (copy.width == 0) return;
  const Side to = TargetOf(copy);
  const Side from = SourceOf(copy);
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) CopyRow(to, from, copy.width, y, z);
  }
}

std::vector<TouchedRange> RangesOf(const CopyOp& copy) {
  std::vector<TouchedRange> list;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return list;
  AddSide(copy, SourceOf(copy), false, &list);
  AddSide(copy, TargetOf(copy), true, &list);
  return list;
}

}  // namespace cuheap::sim
