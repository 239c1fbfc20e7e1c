#include "tests/sim/engine/sparse_layout.h"

#include <algorithm>

namespace cuheap::sim {
namespace {

struct TileExtent {
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t depth;
};

// The customary shapes of 64 KiB, by the size of an element: 1, 2, 4, 8, 16 bytes.
constexpr TileExtent kTiles2D[] = {
    {256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
constexpr TileExtent kTiles3D[] = {
    {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};

bool IsLayeredArray(const CUDA_ARRAY3D_DESCRIPTOR& array) {
  return (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
}

// In elements, or in compressed blocks.
TileExtent TileOf(const CUDA_ARRAY3D_DESCRIPTOR& array, const ElementFormat& format) {
  int row = 0;
  for (std::uint32_t bytes = 1; bytes < format.bytes; bytes *= 2) ++row;
  return array.Depth != 0 && !IsLayeredArray(array) ? kTiles3D[row] : kTiles2D[row];
}

bool SpansATile(const ArrayLayout& level, const TileExtent& tile, std::uint32_t element) {
  return level.row_bytes >= std::uint64_t{tile.width} * element && level.rows >= tile.height &&
         level.slices >= tile.depth;
}

// Returns the bytes that the level takes.
std::uint64_t Tile(const TileExtent& tile, std::uint32_t element, ArrayLayout* level) {
  Tiling& tiling = level->tiling;
  tiling.row_bytes = tile.width * element;
  tiling.rows = tile.height;
  tiling.slices = tile.depth;
  tiling.across = (level->row_bytes + tiling.row_bytes - 1) / tiling.row_bytes;
  tiling.down = (level->rows + tiling.rows - 1) / tiling.rows;
  return (level->slices + tile.depth - 1) / tile.depth * tiling.down * tiling.across * kTileBytes;
}

void AddTails(std::size_t first, std::uint64_t layers, SparseLayout* sparse) {
  std::vector<ArrayLayout>& levels = sparse->storage.parts;
  sparse->tails = layers;
  sparse->tail_offset = sparse->storage.bytes;
  for (std::size_t i = first; i < levels.size(); ++i) {
    const std::uint64_t slices = layers == 1 ? levels[i].slices : 1;
    levels[i].offset = sparse->tail_offset + sparse->tail_bytes;
    sparse->tail_bytes += RoundedUp(levels[i].slice_pitch * slices, 512);
  }
  sparse->tail_bytes = RoundedUp(sparse->tail_bytes, kTileBytes);
  if (layers != 1) {
    for (std::size_t i = first; i < levels.size(); ++i) levels[i].slice_pitch = sparse->tail_bytes;
  }
  sparse->storage.bytes += sparse->tail_bytes * layers;
}

}  // namespace

SparseLayout LayOutSparse(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, bool mipmapped) {
  const CUDA_ARRAY3D_DESCRIPTOR& base = levels.front();
  const ElementFormat format = *FormatOf(base.Format, base.NumChannels);
  const TileExtent tile = TileOf(base, format);
  SparseLayout sparse;
  std::vector<ArrayLayout>& parts = sparse.storage.parts;
  std::size_t first_in_tail = levels.size();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    parts.push_back(LinearLayout(levels[i], sparse.storage.bytes));
    if (first_in_tail <= i || !SpansATile(parts[i], tile, format.bytes)) {
      first_in_tail = std::min(first_in_tail, i);
    } else {
      sparse.storage.bytes += Tile(tile, format.bytes, &parts[i]);
    }
  }
  const std::uint64_t layers = mipmapped && IsLayeredArray(base) ? base.Depth : 1;
  if (first_in_tail < levels.size()) AddTails(first_in_tail, layers, &sparse);
  sparse.properties.tileExtent = {tile.width * format.block, tile.height * format.block,
                                  tile.depth};
  sparse.properties.miptailFirstLevel = static_cast<unsigned>(mipmapped ? first_in_tail : 0);
  sparse.properties.miptailSize = sparse.tail_bytes;
  if (sparse.tails == 1) sparse.properties.flags = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
  return sparse;
}

}  // namespace cuheap::sim
