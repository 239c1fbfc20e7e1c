// cuBLAS: matrices and vectors that go between host and device, which are copies of the driver.
#include <cuda.h>

#include "tests/sim/standins/cublas_handle.h"
#include "tests/sim/standins/driver.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kMappingError = 11;

struct Side {
  const void* base;
  std::int64_t pitch;
};

CUDA_MEMCPY2D Box(std::int64_t width, std::int64_t height, const Side& from, const Side& to) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from.base);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to.base);
  copy.srcPitch = static_cast<std::size_t>(from.pitch);
  copy.dstPitch = static_cast<std::size_t>(to.pitch);
  copy.WidthInBytes = static_cast<std::size_t>(width);
  copy.Height = static_cast<std::size_t>(height);
  return copy;
}

// `columns` of `rows` elements of `bytes`, `ld` elements apart at either side.
int Transfer(std::int64_t rows, std::int64_t columns, int bytes, const void* from,
             std::int64_t from_ld, const void* to, std::int64_t to_ld, Stream stream) {
  static const auto transfer =
      DriverFunction<CUresult(const CUDA_MEMCPY2D*, CUstream)>("cuMemcpy2DAsync_v2");
  if (rows < 0 || columns < 0 || bytes <= 0 || from_ld <= 0 || to_ld <= 0)
    return kCublasInvalidValue;
  if (rows == 0 || columns == 0) return 0;
  const CUDA_MEMCPY2D copy =
      Box(rows * bytes, columns, {from, from_ld * bytes}, {to, to_ld * bytes});
  return transfer(&copy, static_cast<CUstream>(stream)) == CUDA_SUCCESS ? 0 : kMappingError;
}

}  // namespace

// The two directions differ in nothing: an address says where it lies.
#define CUHEAP_TRANSFER(direction)                                                           \
  CUHEAP_STANDIN int cublas##direction##MatrixAsync(int rows, int columns, int bytes,        \
                                                    const void* from, int from_ld, void* to, \
                                                    int to_ld, Stream stream) {              \
    return Transfer(rows, columns, bytes, from, from_ld, to, to_ld, stream);                 \
  }                                                                                          \
  CUHEAP_STANDIN int cublas##direction##VectorAsync(int count, int bytes, const void* from,  \
                                                    int from_step, void* to, int to_step,    \
                                                    Stream stream) {                         \
    return Transfer(1, count, bytes, from, from_step, to, to_step, stream);                  \
  }
CUHEAP_TRANSFER(Set)
CUHEAP_TRANSFER(Get)
