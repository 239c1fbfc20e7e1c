// Where the bytes of sparse arrays lie: levels that span a tile in every dimension in tiles, the
// others together in the mip tail behind them, one tail a layer.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "tests/sim/engine/array_layout.h"

namespace cuheap::sim {

struct SparseLayout {
  StorageLayout storage;
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};  // as the API answers them
  std::uint64_t tail_offset = 0;              // of the first layer's tail
  std::uint64_t tail_bytes = 0;               // of one tail
  std::uint64_t tails = 0;
};

// `levels` of a mipmapped array, or one of an array that has no levels.
SparseLayout LayOutSparse(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, bool mipmapped);

}  // namespace cuheap::sim
