// The descriptors of cuDNN that a stand-in must remember, because sizes are computed from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace cuheap::sim_standin {

inline constexpr int kMaxDimensions = 8;

// Tensors and filters: what was set is given back. Filters have no strides, they are dense.
struct TensorDescriptor {
  bool dense = false;
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

// `tokens`: vectors that there are, padding too where the layout has it.
struct RnnDataDescriptor {
  int type = 0;
  int steps = 0;
  int batch = 0;
  int width = 0;
  std::int64_t tokens = 0;
};

struct CtcDescriptor {
  int longest_label = 0;
};

// The grid of a spatial transformer: as many points as the output has pixels.
struct SpatialDescriptor {
  int type = 0;
  int dimensions = 0;
  int size[kMaxDimensions] = {};
};

// cudnnDataType_t: float, double, half, int8, int32, int8x4, uint8, uint8x4, int8x32, bfloat16,
// int64, boolean, two 8-bit floats, a mode of computing, an exponent, three of 4 bits. 0: not
// known.
inline int BitsOfElement(int type) {
  constexpr int kBits[] = {32, 64, 16, 8, 32, 32, 8, 32, 256, 16, 64, 8, 8, 8, 0, 8, 4, 4, 4};
  const bool known = type >= 0 && static_cast<std::size_t>(type) < std::size(kBits);
  return known ? kBits[type] : 0;
}

inline std::size_t BytesOfElement(int type) {
  return static_cast<std::size_t>(BitsOfElement(type)) / 8;
}

inline std::int64_t ElementsOf(const TensorDescriptor& tensor) {
  std::int64_t elements = 1;
  for (int i = 0; i < tensor.dimensions; ++i) elements *= tensor.size[i];
  return elements;
}

}  // namespace cuheap::sim_standin
