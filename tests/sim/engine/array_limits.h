// Which arrays a device can have: shapes, flags and extents, by the device's attributes.
#pragma once

#include <cuda.h>

#include <optional>

namespace cuheap::sim {

enum class ArrayShape { k1D, k2D, k3D, k1DLayered, k2DLayered, kCubemap, kCubemapLayered };

// Nothing: extents and flags that make no array.
std::optional<ArrayShape> ShapeOf(const CUDA_ARRAY3D_DESCRIPTOR& array);
bool IsLayered(ArrayShape shape);

// INVALID_VALUE: no such format, shape, flags or extents on the device.
CUresult CheckArray(int device, const CUDA_ARRAY3D_DESCRIPTOR& array, bool mipmapped);

}  // namespace cuheap::sim
