// Copies and fills. Addresses are unified, so a copy's direction is only checked, never needed.
#include "tests/sim/runtime/copy.h"

#include <algorithm>
#include <cstddef>

#include "tests/sim/runtime/array.h"
#include "tests/sim/runtime/export.h"

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

// False: an array that does not live, or one beside a pointer.
bool ElementOfSide(cudaArray_const_t array, const cudaPitchedPtr& pointer, std::size_t* out) {
  *out = 1;
  if (array == nullptr) return true;
  return pointer.ptr == nullptr &&
         ElementOf(GetDriver(DefaultStream::kLegacy), array, out) == CUDA_SUCCESS;
}

// Extents are in elements of the arrays, offsets in elements of each side.
template <class From, class To>
bool TranslateBox(const From& from, To* to) {
  std::size_t from_element = 0;
  std::size_t to_element = 0;
  if (!ElementOfSide(from.srcArray, from.srcPtr, &from_element)) return false;
  if (!ElementOfSide(from.dstArray, from.dstPtr, &to_element)) return false;
  to->srcMemoryType = from.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  to->srcArray = (CUarray)from.srcArray;
  to->srcDevice = reinterpret_cast<CUdeviceptr>(from.srcPtr.ptr);
  to->srcPitch = from.srcPtr.pitch;
  to->srcHeight = from.srcPtr.ysize;
  to->srcY = from.srcPos.y;
  to->srcZ = from.srcPos.z;
  to->dstMemoryType = from.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  to->dstArray = (CUarray)from.dstArray;
  to->dstDevice = reinterpret_cast<CUdeviceptr>(from.dstPtr.ptr);
  to->dstPitch = from.dstPtr.pitch;
  to->dstHeight = from.dstPtr.ysize;
  to->dstY = from.dstPos.y;
  to->dstZ = from.dstPos.z;
  to->Height = from.extent.height;
  to->Depth = from.extent.depth;
  return !__builtin_mul_overflow(from.srcPos.x, from_element, &to->srcXInBytes) &&
         !__builtin_mul_overflow(from.dstPos.x, to_element, &to->dstXInBytes) &&
         !__builtin_mul_overflow(from.extent.width, std::max(from_element, to_element),
                                 &to->WidthInBytes);
}

CUresult TranslatePeers(const cudaMemcpy3DPeerParms& from, CUDA_MEMCPY3D_PEER* to) {
  *to = {};
  if (!TranslateBox(from, to)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = PrimaryContext(from.srcDevice, &to->srcContext);
  return result == CUDA_SUCCESS ? PrimaryContext(from.dstDevice, &to->dstContext) : result;
}

}  // namespace

bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to) {
  *to = {};
  return TranslateBox(from, to);
}

}  // namespace cuheap::sim_runtime

namespace {

CUresult CheckBox(const cudaMemcpy3DParms* copy, CUDA_MEMCPY3D* out) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!KnownDirection(copy->kind)) return kInvalidDirection;
  return TranslateCopy(*copy, out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
  const CUresult known = CheckBox(copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3D(&volume) : known;
}

CUHEAP_TWO_FACES(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* copy, cudaStream_t stream),
                 copy, stream) {
  CUDA_MEMCPY3D volume{};
  const CUresult known = CheckBox(copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3DAsync(&volume, stream) : known;
}

// PARTIAL: as cudaMemcpy, it is serialised with the default stream of the current device alone.
CUHEAP_TWO_FACES(cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms* copy), copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D_PEER volume{};
  const CUresult known = TranslatePeers(*copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3DPeer(&volume) : known;
}

CUHEAP_TWO_FACES(cudaMemcpy3DPeerAsync, _ptsz,
                 (const cudaMemcpy3DPeerParms* copy, cudaStream_t stream), copy, stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D_PEER volume{};
  const CUresult known = TranslatePeers(*copy, &volume);
  return known == CUDA_SUCCESS ? driver.cuMemcpy3DPeerAsync(&volume, stream) : known;
}

CUHEAP_TWO_FACES(cudaMemcpy3DBatchAsync, _ptsz,
                 (size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                  cudaStream_t stream),
                 count, operations, flags, stream) {
  static_assert(sizeof(cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP));
  return Call(driver.cuMemcpy3DBatchAsync, count, operations, flags, stream);
}
