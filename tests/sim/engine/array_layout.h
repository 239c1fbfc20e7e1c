// Where the bytes of arrays lie: rows and slices one after the other inside a piece of memory, mip
// levels and planes behind each other. What a device does is not known and not imitated.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "tests/sim/engine/array_format.h"
#include "tests/sim/engine/tiling.h"

namespace cuheap::sim {

struct ArrayLayout {
  std::uint64_t offset = 0;     // in the memory of the whole
  std::uint64_t row_bytes = 0;  // that are elements
  std::uint64_t rows = 0;       // of elements, or of compressed blocks
  std::uint64_t slices = 0;     // or layers
  std::uint64_t pitch = 0;
  std::uint64_t slice_pitch = 0;
  Tiling tiling;  // of a sparse level; pitches say nothing then
};

struct StorageLayout {
  std::vector<ArrayLayout> parts;  // mip levels or planes
  std::uint64_t bytes = 0;
};

unsigned MostLevels(const CUDA_ARRAY3D_DESCRIPTOR& array);
CUDA_ARRAY3D_DESCRIPTOR LevelOf(const CUDA_ARRAY3D_DESCRIPTOR& base, unsigned level);
// REQUIRES: formats of one plane.
StorageLayout LayOut(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& parts);
// Rows and slices of `array` at `offset`, packed.
ArrayLayout LinearLayout(const CUDA_ARRAY3D_DESCRIPTOR& array, std::uint64_t offset);

constexpr std::uint64_t RoundedUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace cuheap::sim
