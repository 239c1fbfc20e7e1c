#include "tests/sim/engine/array_limits.h"

#include "tests/sim/engine/array_format.h"
#include "tests/sim/engine/device.h"

namespace cuheap::sim {
namespace {

constexpr unsigned kFlags =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
    CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT |
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

// The attributes that bound width, height and depth; 0 where the extent is not bounded by one.
struct Bounds {
  int width;
  int height;
  int depth;
};

#define TEXTURE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name
#define SURFACE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##name

Bounds TextureBounds(ArrayShape shape, bool mipmapped) {
  switch (shape) {
    case ArrayShape::k1D:
      return {mipmapped ? TEXTURE(1D_MIPMAPPED_WIDTH) : TEXTURE(1D_WIDTH), 0, 0};
    case ArrayShape::k2D:
      if (mipmapped) return {TEXTURE(2D_MIPMAPPED_WIDTH), TEXTURE(2D_MIPMAPPED_HEIGHT), 0};
      return {TEXTURE(2D_WIDTH), TEXTURE(2D_HEIGHT), 0};
    case ArrayShape::k3D:
      return {TEXTURE(3D_WIDTH), TEXTURE(3D_HEIGHT), TEXTURE(3D_DEPTH)};
    case ArrayShape::k1DLayered:
      return {TEXTURE(1D_LAYERED_WIDTH), 0, TEXTURE(1D_LAYERED_LAYERS)};
    case ArrayShape::k2DLayered:
      return {TEXTURE(2D_LAYERED_WIDTH), TEXTURE(2D_LAYERED_HEIGHT), TEXTURE(2D_LAYERED_LAYERS)};
    case ArrayShape::kCubemap:
      return {TEXTURE(CUBEMAP_WIDTH), TEXTURE(CUBEMAP_WIDTH), 0};
    case ArrayShape::kCubemapLayered:
      return {TEXTURE(CUBEMAP_LAYERED_WIDTH), TEXTURE(CUBEMAP_LAYERED_WIDTH),
              TEXTURE(CUBEMAP_LAYERED_LAYERS)};
  }
  return {};
}

Bounds SurfaceBounds(ArrayShape shape) {
  switch (shape) {
    case ArrayShape::k1D:
      return {SURFACE(1D_WIDTH), 0, 0};
    case ArrayShape::k2D:
      return {SURFACE(2D_WIDTH), SURFACE(2D_HEIGHT), 0};
    case ArrayShape::k3D:
      return {SURFACE(3D_WIDTH), SURFACE(3D_HEIGHT), SURFACE(3D_DEPTH)};
    case ArrayShape::k1DLayered:
      return {SURFACE(1D_LAYERED_WIDTH), 0, SURFACE(1D_LAYERED_LAYERS)};
    case ArrayShape::k2DLayered:
      return {SURFACE(2D_LAYERED_WIDTH), SURFACE(2D_LAYERED_HEIGHT), SURFACE(2D_LAYERED_LAYERS)};
    case ArrayShape::kCubemap:
      return {SURFACE(CUBEMAP_WIDTH), SURFACE(CUBEMAP_WIDTH), 0};
    case ArrayShape::kCubemapLayered:
      return {SURFACE(CUBEMAP_LAYERED_WIDTH), SURFACE(CUBEMAP_LAYERED_WIDTH),
              SURFACE(CUBEMAP_LAYERED_LAYERS)};
  }
  return {};
}

bool Within(int device, std::size_t extent, int attribute) {
  if (attribute == 0) return true;
  int most = 0;
  DeviceAttribute(device, attribute, &most);
  return extent <= static_cast<std::size_t>(most);
}

bool Fit(int device, const CUDA_ARRAY3D_DESCRIPTOR& array, const Bounds& bounds) {
  return Within(device, array.Width, bounds.width) && Within(device, array.Height, bounds.height) &&
         Within(device, array.Depth, bounds.depth);
}

bool TextureFits(int device, const CUDA_ARRAY3D_DESCRIPTOR& array, ArrayShape shape,
                 bool mipmapped) {
  if (Fit(device, array, TextureBounds(shape, mipmapped))) return true;
  return shape == ArrayShape::k3D && Fit(device, array,
                                         {TEXTURE(3D_WIDTH_ALTERNATE), TEXTURE(3D_HEIGHT_ALTERNATE),
                                          TEXTURE(3D_DEPTH_ALTERNATE)});
}

bool GatherFits(int device, const CUDA_ARRAY3D_DESCRIPTOR& array, ArrayShape shape) {
  return shape == ArrayShape::k2D &&
         Fit(device, array, {TEXTURE(2D_GATHER_WIDTH), TEXTURE(2D_GATHER_HEIGHT), 0});
}

#undef TEXTURE
#undef SURFACE

// What cuMemMapArrayAsync can give memory to.
bool CanBeMapped(const CUDA_ARRAY3D_DESCRIPTOR& array, ArrayShape shape) {
  const bool both = (array.Flags & CUDA_ARRAY3D_SPARSE) != 0 &&
                    (array.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0;
  return !both &&
         (shape == ArrayShape::k2D || shape == ArrayShape::k2DLayered || shape == ArrayShape::k3D);
}

}  // namespace

std::optional<ArrayShape> ShapeOf(const CUDA_ARRAY3D_DESCRIPTOR& array) {
  const bool layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if (array.Width == 0) return std::nullopt;
  if ((array.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    const bool faces = array.Depth != 0 && (layered ? array.Depth % 6 == 0 : array.Depth == 6);
    if (!faces || array.Width != array.Height) return std::nullopt;
    return layered ? ArrayShape::kCubemapLayered : ArrayShape::kCubemap;
  }
  if (layered) {
    if (array.Depth == 0) return std::nullopt;
    return array.Height == 0 ? ArrayShape::k1DLayered : ArrayShape::k2DLayered;
  }
  if (array.Depth == 0) return array.Height == 0 ? ArrayShape::k1D : ArrayShape::k2D;
  if (array.Height == 0) return std::nullopt;
  return ArrayShape::k3D;
}

bool IsLayered(ArrayShape shape) {
  return shape != ArrayShape::k1D && shape != ArrayShape::k2D && shape != ArrayShape::k3D;
}

CUresult CheckArray(int device, const CUDA_ARRAY3D_DESCRIPTOR& array, bool mipmapped) {
  const auto format = FormatOf(array.Format, array.NumChannels);
  const auto shape = ShapeOf(array);
  if (!format || !shape || (array.Flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!TextureFits(device, array, *shape, mipmapped)) return CUDA_ERROR_INVALID_VALUE;
  const auto has = [&](unsigned flag) { return (array.Flags & flag) != 0; };
  if (has(CUDA_ARRAY3D_SURFACE_LDST) && !Fit(device, array, SurfaceBounds(*shape))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (has(CUDA_ARRAY3D_TEXTURE_GATHER) && !GatherFits(device, array, *shape)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (has(CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING) && !CanBeMapped(array, *shape)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool planes_in_2d = *shape == ArrayShape::k2D && !mipmapped && !has(CUDA_ARRAY3D_SPARSE);
  if (format->planes > 1 && !planes_in_2d) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
