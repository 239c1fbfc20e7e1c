// The element formats of arrays: how large an element is, and which planes it is made of.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>

namespace cuheap::sim {

struct ElementFormat {
  std::uint32_t bytes = 0;  // of an element; of a block where blocks are compressed
  std::uint32_t block = 1;  // elements that a block spans, in x and in y
  std::uint32_t planes = 1;
};

// Nothing: no such format, or not with so many channels.
std::optional<ElementFormat> FormatOf(CUarray_format format, unsigned channels);

// One plane of an array whose format has several. Nothing: there is no such plane.
std::optional<CUDA_ARRAY3D_DESCRIPTOR> PlaneOf(const CUDA_ARRAY3D_DESCRIPTOR& whole,
                                               unsigned plane);

}  // namespace cuheap::sim
