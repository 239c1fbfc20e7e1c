// Copies and fills. Addresses are unified, so a copy's direction is only checked, never needed.
#include "tests/sim/runtime/copy.h"

#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/missing.h"

using namespace cuheap::sim_runtime;

namespace cuheap::sim_runtime {
namespace {

constexpr auto kInvalidDirection = static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);

bool KnownDirection(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

template <typename Function>
CUresult CheckedCopy(cudaMemcpyKind kind, size_t bytes, Function&& call) {
  if (!KnownDirection(kind)) return kInvalidDirection;
  return bytes == 0 ? CUDA_SUCCESS : call();
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

}  // namespace

bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to) {
  static bool said = false;
  if (from.srcArray != nullptr || from.dstArray != nullptr) {
    SayMissingOnce(&said, "cudaMemcpy3D", "does not copy arrays in the simulated runtime");
    return false;
  }
  *to = {};
  to->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  to->srcDevice = reinterpret_cast<CUdeviceptr>(from.srcPtr.ptr);
  to->srcPitch = from.srcPtr.pitch;
  to->srcHeight = from.srcPtr.ysize;
  to->srcXInBytes = from.srcPos.x;
  to->srcY = from.srcPos.y;
  to->srcZ = from.srcPos.z;
  to->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  to->dstDevice = reinterpret_cast<CUdeviceptr>(from.dstPtr.ptr);
  to->dstPitch = from.dstPtr.pitch;
  to->dstHeight = from.dstPtr.ysize;
  to->dstXInBytes = from.dstPos.x;
  to->dstY = from.dstPos.y;
  to->dstZ = from.dstPos.z;
  to->WidthInBytes = from.extent.width;
  to->Height = from.extent.height;
  to->Depth = from.extent.depth;
  return true;
}

}  // namespace cuheap::sim_runtime

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

CUHEAP_TWO_FACES(cudaMemcpyPeer, _ptds,
                 (void* target, int target_device, const void* source, int source_device,
                  size_t count),
                 target, target_device, source, source_device, count) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  CUresult result = PrimaryContext(target_device, &to);
  if (result == CUDA_SUCCESS) result = PrimaryContext(source_device, &from);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpyPeer, target, to, source, from, count);
}

CUHEAP_TWO_FACES(cudaMemcpyPeerAsync, _ptsz,
                 (void* target, int target_device, const void* source, int source_device,
                  size_t count, cudaStream_t stream),
                 target, target_device, source, source_device, count, stream) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  CUresult result = PrimaryContext(target_device, &to);
  if (result == CUDA_SUCCESS) result = PrimaryContext(source_device, &from);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpyPeerAsync, target, to, source, from, count, stream);
}

CUHEAP_TWO_FACES(cudaMemcpy2D, _ptds,
                 (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                  size_t width, size_t height, cudaMemcpyKind kind),
                 target, target_pitch, source, source_pitch, width, height, kind) {
  const CUDA_MEMCPY2D plane = Plane(target, target_pitch, source, source_pitch, width, height);
  return CheckedCopy(kind, width * height, [&] { return driver.cuMemcpy2DUnaligned(&plane); });
}

CUHEAP_TWO_FACES(cudaMemcpy2DAsync, _ptsz,
                 (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                  size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 target, target_pitch, source, source_pitch, width, height, kind, stream) {
  const CUDA_MEMCPY2D plane = Plane(target, target_pitch, source, source_pitch, width, height);
  return CheckedCopy(kind, width * height, [&] { return driver.cuMemcpy2DAsync(&plane, stream); });
}

CUHEAP_TWO_FACES(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* copy), copy) {
  CUDA_MEMCPY3D volume{};
  return TranslateCopy(*copy, &volume) ? driver.cuMemcpy3D(&volume) : CUDA_ERROR_NOT_SUPPORTED;
}

CUHEAP_TWO_FACES(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* copy, cudaStream_t stream),
                 copy, stream) {
  CUDA_MEMCPY3D volume{};
  return TranslateCopy(*copy, &volume) ? driver.cuMemcpy3DAsync(&volume, stream)
                                       : CUDA_ERROR_NOT_SUPPORTED;
}
