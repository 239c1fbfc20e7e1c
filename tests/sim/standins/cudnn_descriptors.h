// The descriptors of cuDNN that a stand-in must remember, because sizes are computed from them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuheap::sim_standin {

inline constexpr int kMaxDimensions = 8;

// Tensors and filters: what was set is given back.
struct TensorDescriptor {
  int type = 0;
  int format = 0;
  int dimensions = 0;
  int size[kMaxDimensions] = {};
  int stride[kMaxDimensions] = {};
};

struct RnnDescriptor {
  int cell = 0;
  int bias = 0;
  bool bidirectional = false;
  int type = 0;
  std::int32_t input = 0;
  std::int32_t hidden = 0;
  std::int32_t projection = 0;
  std::int32_t layers = 0;
};

struct RnnDataDescriptor {
  int type = 0;
  int steps = 0;
  int batch = 0;
  int width = 0;
};

inline std::size_t BytesOfElement(int type) {
  constexpr std::size_t kBytes[] = {
      4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8};  // float, double, half, int8, ..., bfloat16, int64
  const bool known = type >= 0 && static_cast<std::size_t>(type) < sizeof kBytes / sizeof kBytes[0];
  return known ? kBytes[type] : 4;
}

}  // namespace cuheap::sim_standin
