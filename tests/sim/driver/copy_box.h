// Copies with pitches, as values of the engine.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

inline CopyOp LinearCopy(std::uintptr_t to, std::uintptr_t from, std::uint64_t bytes) {
  return CopyOp{.to = to, .from = from, .width = bytes};
}

// NOT_SUPPORTED (and a line on stderr) for arrays, INVALID_VALUE for pitches below the width.
CUresult BoxCopy(const CUDA_MEMCPY3D& copy, CopyOp* out);
CUresult BoxCopy(const CUDA_MEMCPY2D& copy, CopyOp* out);
CUDA_MEMCPY3D DescribeBox(const CopyOp& copy);

}  // namespace cuheap::sim
