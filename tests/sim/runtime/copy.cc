// Copies between addresses, and of boxes.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

template <typename Function>
CUresult CheckedCopy(cudaMemcpyKind kind, size_t bytes, Function&& call) {
  const CUresult known = CheckDirection(kind);
  return known != CUDA_SUCCESS || bytes == 0 ? known : call();
}

// Calls copy(plane) where there is something to copy.
template <typename Function>
CUresult CheckedPlane(const Driver& driver, cudaMemcpyKind kind, const CUDA_MEMCPY2D& plane,
                      Function&& copy) {
  CUresult result = CheckDirection(kind);
  if (result != CUDA_SUCCESS || plane.WidthInBytes == 0 || plane.Height == 0) return result;
  result = CheckPitch(driver, plane.dstPitch, plane.WidthInBytes);
  if (result == CUDA_SUCCESS) result = CheckPitch(driver, plane.srcPitch, plane.WidthInBytes);
  return result == CUDA_SUCCESS ? copy(&plane) : result;
}

CUDA_MEMCPY2D Plane(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                    size_t width, size_t height) {
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  plane.srcDevice = reinterpret_cast<CUdeviceptr>(source);
  plane.srcPitch = source_pitch;
  plane.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  plane.dstDevice = reinterpret_cast<CUdeviceptr>(target);
  plane.dstPitch = target_pitch;
  plane.WidthInBytes = width;
  plane.Height = height;
  return plane;
}

CUresult CheckBox(const Driver& driver, const cudaMemcpy3DParms* copy, CUDA_MEMCPY3D* out) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult known = CheckDirection(copy->kind);
  if (known != CUDA_SUCCESS) return known;
  return TranslateCopy(*copy, out) ? CheckPitches(driver, *out) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUHEAP_TWO_FACES(cudaMemcpy, _ptds,
                 (void* target, const void* source, size_t count, cudaMemcpyKind kind), target,
                 source, count, kind) {
  return CheckedCopy(kind, count, [&] { return Call(driver.cuMemcpy, target, source, count); });
}

CUHEAP_TWO_FACES(cudaMemcpyAsync, _ptsz,
                 (void* target, const void* source, size_t count, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 target, source, count, kind, stream) {
  return CheckedCopy(kind, count,
                     [&] { return Call(driver.cuMemcpyAsync, target, source, count, stream); });
}

CUHEAP_TWO_FACES(cudaMemcpy2D, _ptds,
                 (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                  size_t width, size_t height, cudaMemcpyKind kind),
                 target, target_pitch, source, source_pitch, width, height, kind) {
  const CUDA_MEMCPY2D plane = Plane(target, target_pitch, source, source_pitch, width, height);
  return CheckedPlane(driver, kind, plane, driver.cuMemcpy2DUnaligned);
}

CUHEAP_TWO_FACES(cudaMemcpy2DAsync, _ptsz,
                 (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                  size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 target, target_pitch, source, source_pitch, width, height, kind, stream) {
  const CUDA_MEMCPY2D plane = Plane(target, target_pitch, source, source_pitch, width, height);
  return CheckedPlane(driver, kind, plane, [&](const CUDA_MEMCPY2D* checked) {
    return driver.cuMemcpy2DAsync(checked, stream);
  });
}

CUHEAP_TWO_FACES(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* copy), copy) {
  CUDA_MEMCPY3D volume{};
  const CUresult known = CheckBox(driver, copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3D(&volume) : known;
}

CUHEAP_TWO_FACES(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* copy, cudaStream_t stream),
                 copy, stream) {
  CUDA_MEMCPY3D volume{};
  const CUresult known = CheckBox(driver, copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3DAsync(&volume, stream) : known;
}

CUHEAP_TWO_FACES(cudaMemcpyBatchAsync, _ptsz,
                 (void* const* targets, const void* const* sources, const size_t* sizes,
                  size_t count, cudaMemcpyAttributes* attributes, size_t* indices,
                  size_t attribute_count, cudaStream_t stream),
                 targets, sources, sizes, count, attributes, indices, attribute_count, stream) {
  static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
  return Call(driver.cuMemcpyBatchAsync, targets, sources, sizes, count, attributes, indices,
              attribute_count, stream);
}

CUHEAP_TWO_FACES(cudaMemcpy3DBatchAsync, _ptsz,
                 (size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                  cudaStream_t stream),
                 count, operations, flags, stream) {
  static_assert(sizeof(cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP));
  return Call(driver.cuMemcpy3DBatchAsync, count, operations, flags, stream);
}
