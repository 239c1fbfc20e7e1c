#include "tests/sim/engine/array_layout.h"

#include <algorithm>

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kRowUnit = 32;
constexpr std::uint64_t kPartUnit = 512;

}  // namespace

unsigned MostLevels(const CUDA_ARRAY3D_DESCRIPTOR& array) {
  const bool layered = (array.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  std::size_t largest = std::max(array.Width, array.Height);
  if (!layered) largest = std::max(largest, array.Depth);
  unsigned levels = 1;
  for (; largest > 1; largest /= 2) ++levels;
  return levels;
}

CUDA_ARRAY3D_DESCRIPTOR LevelOf(const CUDA_ARRAY3D_DESCRIPTOR& base, unsigned level) {
  const auto halved = [&](std::size_t extent) {
    return extent == 0 ? 0 : std::max<std::size_t>(extent >> level, 1);
  };
  CUDA_ARRAY3D_DESCRIPTOR array = base;
  const bool layered = (base.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  array.Width = halved(base.Width);
  array.Height = halved(base.Height);
  if (!layered) array.Depth = halved(base.Depth);
  return array;
}

ArrayLayout LinearLayout(const CUDA_ARRAY3D_DESCRIPTOR& array, std::uint64_t offset) {
  const ElementFormat format = *FormatOf(array.Format, array.NumChannels);
  ArrayLayout layout;
  layout.offset = offset;
  layout.row_bytes = (array.Width + format.block - 1) / format.block * format.bytes;
  layout.rows = (std::max<std::size_t>(array.Height, 1) + format.block - 1) / format.block;
  layout.slices = std::max<std::size_t>(array.Depth, 1);
  layout.pitch = RoundedUp(layout.row_bytes, kRowUnit);
  layout.slice_pitch = layout.pitch * layout.rows;
  return layout;
}

StorageLayout LayOut(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& parts) {
  StorageLayout storage;
  for (const CUDA_ARRAY3D_DESCRIPTOR& part : parts) {
    storage.parts.push_back(LinearLayout(part, storage.bytes));
    const ArrayLayout& layout = storage.parts.back();
    storage.bytes += RoundedUp(layout.slice_pitch * layout.slices, kPartUnit);
  }
  return storage;
}

}  // namespace cuheap::sim
