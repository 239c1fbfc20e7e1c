// Copies from and to arrays by rows of bytes.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

// One side: an array and where the box begins, or memory and its pitch.
struct Side {
  cudaArray_const_t array = nullptr;
  size_t x = 0;
  size_t y = 0;
  const void* memory = nullptr;
  size_t pitch = 0;
};

CUDA_MEMCPY2D Between(const Side& to, const Side& from, size_t width, size_t height) {
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = from.array != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  box.srcArray = (CUarray)from.array;
  box.srcXInBytes = from.x;
  box.srcY = from.y;
  box.srcDevice = reinterpret_cast<CUdeviceptr>(from.memory);
  box.srcPitch = from.pitch;
  box.dstMemoryType = to.array != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  box.dstArray = (CUarray)to.array;
  box.dstXInBytes = to.x;
  box.dstY = to.y;
  box.dstDevice = reinterpret_cast<CUdeviceptr>(to.memory);
  box.dstPitch = to.pitch;
  box.WidthInBytes = width;
  box.Height = height;
  return box;
}

// A missing array would be taken for memory.
CUresult Check(cudaMemcpyKind kind, cudaArray_const_t array) {
  const CUresult known = CheckDirection(kind);
  return known == CUDA_SUCCESS && array == nullptr ? CUDA_ERROR_INVALID_HANDLE : known;
}

// Between an array and memory.
CUresult Check(const Driver& driver, cudaMemcpyKind kind, cudaArray_const_t array, size_t pitch,
               size_t width, size_t height) {
  const CUresult known = Check(kind, array);
  if (known != CUDA_SUCCESS || width == 0 || height == 0) return known;
  return CheckPitch(driver, pitch, width);
}

}  // namespace

CUHEAP_TWO_FACES(cudaMemcpy2DToArray, _ptds,
                 (cudaArray_t target, size_t x, size_t y, const void* source, size_t pitch,
                  size_t width, size_t height, cudaMemcpyKind kind),
                 target, x, y, source, pitch, width, height, kind) {
  const CUresult known = Check(driver, kind, target, pitch, width, height);
  if (known != CUDA_SUCCESS) return known;
  const auto box = Between({target, x, y}, {nullptr, 0, 0, source, pitch}, width, height);
  return driver.cuMemcpy2DUnaligned(&box);
}

CUHEAP_TWO_FACES(cudaMemcpy2DToArrayAsync, _ptsz,
                 (cudaArray_t target, size_t x, size_t y, const void* source, size_t pitch,
                  size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 target, x, y, source, pitch, width, height, kind, stream) {
  const CUresult known = Check(driver, kind, target, pitch, width, height);
  if (known != CUDA_SUCCESS) return known;
  const auto box = Between({target, x, y}, {nullptr, 0, 0, source, pitch}, width, height);
  return driver.cuMemcpy2DAsync(&box, stream);
}

CUHEAP_TWO_FACES(cudaMemcpy2DFromArray, _ptds,
                 (void* target, size_t pitch, cudaArray_const_t source, size_t x, size_t y,
                  size_t width, size_t height, cudaMemcpyKind kind),
                 target, pitch, source, x, y, width, height, kind) {
  const CUresult known = Check(driver, kind, source, pitch, width, height);
  if (known != CUDA_SUCCESS) return known;
  const auto box = Between({nullptr, 0, 0, target, pitch}, {source, x, y}, width, height);
  return driver.cuMemcpy2DUnaligned(&box);
}

CUHEAP_TWO_FACES(cudaMemcpy2DFromArrayAsync, _ptsz,
                 (void* target, size_t pitch, cudaArray_const_t source, size_t x, size_t y,
                  size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 target, pitch, source, x, y, width, height, kind, stream) {
  const CUresult known = Check(driver, kind, source, pitch, width, height);
  if (known != CUDA_SUCCESS) return known;
  const auto box = Between({nullptr, 0, 0, target, pitch}, {source, x, y}, width, height);
  return driver.cuMemcpy2DAsync(&box, stream);
}

CUHEAP_TWO_FACES(cudaMemcpy2DArrayToArray, _ptds,
                 (cudaArray_t target, size_t to_x, size_t to_y, cudaArray_const_t source,
                  size_t from_x, size_t from_y, size_t width, size_t height, cudaMemcpyKind kind),
                 target, to_x, to_y, source, from_x, from_y, width, height, kind) {
  if (const CUresult bad = Check(kind, target); bad != CUDA_SUCCESS) return bad;
  if (const CUresult bad = Check(kind, source); bad != CUDA_SUCCESS) return bad;
  const auto box = Between({target, to_x, to_y}, {source, from_x, from_y}, width, height);
  return driver.cuMemcpy2DUnaligned(&box);
}
