#include "tests/sim/runtime/copy_translation.h"

#include <algorithm>
#include <atomic>

#include "tests/sim/runtime/array.h"
#include "tests/sim/runtime/context.h"

namespace cuheap::sim_runtime {
namespace {

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

// All devices have the same.
CUresult LargestPitch(const Driver& driver, std::size_t* out) {
  static std::atomic<int> known{-1};
  int pitch = known;
  if (pitch < 0) {
    const CUresult result = driver.cuDeviceGetAttribute(&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0);
    if (result != CUDA_SUCCESS) return result;
    known = pitch;
  }
  *out = static_cast<std::size_t>(pitch);
  return CUDA_SUCCESS;
}

template <class Box>
CUresult CheckSides(const Driver& driver, const Box& box) {
  const bool one_row = box.Height == 1 && box.Depth == 1;
  if (box.WidthInBytes == 0 || box.Height == 0 || box.Depth == 0) return CUDA_SUCCESS;
  const auto check = [&](CUmemorytype type, std::size_t pitch, std::size_t x) {
    std::size_t end = 0;
    if (type == CU_MEMORYTYPE_ARRAY || (pitch == 0 && one_row)) return CUDA_SUCCESS;
    if (__builtin_add_overflow(x, box.WidthInBytes, &end)) return CUDA_ERROR_INVALID_VALUE;
    return CheckPitch(driver, pitch, end);
  };
  const CUresult result = check(box.srcMemoryType, box.srcPitch, box.srcXInBytes);
  return result == CUDA_SUCCESS ? check(box.dstMemoryType, box.dstPitch, box.dstXInBytes) : result;
}

}  // namespace

CUresult CheckDirection(cudaMemcpyKind kind) {
  const bool known = kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
  return known ? CUDA_SUCCESS : kInvalidDirection;
}

CUresult CheckPitch(const Driver& driver, std::size_t pitch, std::size_t width) {
  std::size_t largest = 0;
  const CUresult result = LargestPitch(driver, &largest);
  if (result != CUDA_SUCCESS) return result;
  return width <= pitch && pitch <= largest ? CUDA_SUCCESS : kInvalidPitch;
}

CUresult CheckPitches(const Driver& driver, const CUDA_MEMCPY3D& box) {
  return CheckSides(driver, box);
}
CUresult CheckPitches(const Driver& driver, const CUDA_MEMCPY3D_PEER& box) {
  return CheckSides(driver, box);
}

bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to) {
  *to = {};
  return TranslateBox(from, to);
}

bool TranslateCopy(const cudaMemcpy3DPeerParms& from, CUDA_MEMCPY3D_PEER* to) {
  *to = {};
  return TranslateBox(from, to);
}

}  // namespace cuheap::sim_runtime
