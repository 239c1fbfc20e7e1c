// Copies of the API, as values of the engine.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

struct Stream;

inline CopyOp LinearCopy(std::uintptr_t to, std::uintptr_t from, std::uint64_t bytes) {
  return CopyOp{.to = to, .from = from, .width = bytes};
}

// INVALID_VALUE: pitches and heights that the box does not fit into, or that no device can have;
// a box beside an array, or one that begins inside an element. INVALID_HANDLE: no such array.
CUresult BoxCopy(const CUDA_MEMCPY3D& copy, CopyOp* out);
CUresult BoxCopy(const CUDA_MEMCPY2D& copy, CopyOp* out);
CUresult BoxCopy(const CUDA_MEMCPY3D_PEER& copy, CopyOp* out);
// As it was given to a node, else what has the same effect.
CUDA_MEMCPY3D DescribeBox(const CopyOp& copy);

// A synchronous copy is work of the default stream that the call waits for.
CUresult CopyNow(const CopyOp& copy);
CUresult CopyIn(CUstream stream, const CopyOp& copy);
// All of them, or none where one touches what it may not: then `failed` says which.
CUresult CopyBatch(Stream* stream, const std::vector<CopyOp>& copies, std::size_t* failed);

}  // namespace cuheap::sim
