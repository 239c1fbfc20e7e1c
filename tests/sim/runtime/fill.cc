// Setting memory: one, two and three dimensions.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

// Rows of bytes, `pitch` apart. Nothing to set is success.
struct Plane {
  void* target;
  size_t pitch;
  size_t width;
  size_t height;
  bool IsEmpty() const { return width == 0 || height == 0; }
};

// Calls set(plane) for a box. Planes that follow each other without a gap are one; otherwise the
// last comes first, which is the one that may leave the memory.
template <typename Set>
CUresult SetBox(const cudaPitchedPtr& target, const cudaExtent& extent, Set&& set) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_SUCCESS;
  if (extent.depth == 1) return set(Plane{target.ptr, target.pitch, extent.width, extent.height});
  size_t slice = 0;
  size_t all = 0;
  size_t rows = 0;
  if (extent.height > target.ysize || __builtin_mul_overflow(target.pitch, target.ysize, &slice) ||
      __builtin_mul_overflow(slice, extent.depth, &all) ||
      __builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (extent.height == target.ysize) {
    return set(Plane{target.ptr, target.pitch, extent.width, rows});
  }
  for (size_t z = extent.depth; z-- > 0;) {
    void* const start = static_cast<char*>(target.ptr) + z * slice;
    const CUresult result = set(Plane{start, target.pitch, extent.width, extent.height});
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult SetNow(const Driver& driver, const Plane& plane, int value) {
  if (plane.IsEmpty()) return CUDA_SUCCESS;
  return Call(driver.cuMemsetD2D8, plane.target, plane.pitch, value, plane.width, plane.height);
}

CUresult SetIn(const Driver& driver, cudaStream_t stream, const Plane& plane, int value) {
  if (plane.IsEmpty()) return CUDA_SUCCESS;
  return Call(driver.cuMemsetD2D8Async, plane.target, plane.pitch, value, plane.width, plane.height,
              stream);
}

}  // namespace

CUHEAP_TWO_FACES(cudaMemset, _ptds, (void* target, int value, size_t count), target, value, count) {
  return count == 0 ? CUDA_SUCCESS : Call(driver.cuMemsetD8, target, value, count);
}

CUHEAP_TWO_FACES(cudaMemsetAsync, _ptsz,
                 (void* target, int value, size_t count, cudaStream_t stream), target, value, count,
                 stream) {
  return count == 0 ? CUDA_SUCCESS : Call(driver.cuMemsetD8Async, target, value, count, stream);
}

CUHEAP_TWO_FACES(cudaMemset2D, _ptds,
                 (void* target, size_t pitch, int value, size_t width, size_t height), target,
                 pitch, value, width, height) {
  return SetNow(driver, {target, pitch, width, height}, value);
}

CUHEAP_TWO_FACES(cudaMemset2DAsync, _ptsz,
                 (void* target, size_t pitch, int value, size_t width, size_t height,
                  cudaStream_t stream),
                 target, pitch, value, width, height, stream) {
  return SetIn(driver, stream, {target, pitch, width, height}, value);
}

CUHEAP_TWO_FACES(cudaMemset3D, _ptds, (cudaPitchedPtr target, int value, cudaExtent extent), target,
                 value, extent) {
  return SetBox(target, extent, [&](const Plane& plane) { return SetNow(driver, plane, value); });
}

CUHEAP_TWO_FACES(cudaMemset3DAsync, _ptsz,
                 (cudaPitchedPtr target, int value, cudaExtent extent, cudaStream_t stream), target,
                 value, extent, stream) {
  return SetBox(target, extent,
                [&](const Plane& plane) { return SetIn(driver, stream, plane, value); });
}
