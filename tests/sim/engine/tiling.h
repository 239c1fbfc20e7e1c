// The order of bytes in a sparse array: tiles of 64 KiB one after the other, x first, rows of
// elements inside each. A tile is what memory is mapped to.
#pragma once

#include <cstdint>

namespace cuheap::sim {

inline constexpr std::uint64_t kTileBytes = 64ULL << 10;

struct Tiling {
  std::uint32_t row_bytes = 0;  // of a tile; 0: the array is not tiled
  std::uint32_t rows = 1;
  std::uint32_t slices = 1;
  std::uint64_t across = 0;  // tiles in x, in y
  std::uint64_t down = 0;

  // Of the tile that holds byte `x` of row `y` of slice `z`.
  std::uint64_t TileAt(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return ((z / slices) * down + y / rows) * across + x / row_bytes;
  }
  std::uint64_t OffsetOf(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return TileAt(x, y, z) * kTileBytes + ((z % slices) * rows + y % rows) * row_bytes +
           x % row_bytes;
  }
  // How many bytes follow in a row before the next tile begins.
  std::uint64_t RunAt(std::uint64_t x) const { return row_bytes - x % row_bytes; }
};

}  // namespace cuheap::sim
