// cuBLAS: what gives a number, or an index. Where it goes the pointer mode says: to device memory
// in the order of the stream, or to the host, which waits for it. The number is 0, an index the
// first.
#include "tests/sim/standins/cublas_handle.h"
#include "tests/sim/standins/types.h"

using namespace cuheap::sim_standin;

namespace {

struct Operands {
  const void* x;
  std::int64_t step_x;
  int bits_x;
  const void* y = nullptr;
  std::int64_t step_y = 1;
  int bits_y = kRealFloatBits;
};

int WriteOnDevice(Stream stream, void* result, std::size_t bytes, unsigned int low) {
  const int zeroed = FillDeviceWords(result, 0, bytes / sizeof low, stream);
  return zeroed != 0 || low == 0 ? zeroed : FillDeviceWords(result, low, 1, stream);
}

int WriteOnHost(Stream stream, void* result, std::size_t bytes, unsigned int low) {
  if (const int waited = WaitForStream(stream); waited != 0) return waited;
  std::memset(result, 0, bytes);
  std::memcpy(result, &low, sizeof low);
  return 0;
}

// `low`: the first word of the result.
int Number(Handle handle, const char* name, std::int64_t n, const Operands& operands, void* result,
           int result_bits, unsigned int low = 0) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (result == nullptr || result_bits < 32) return kCublasInvalidValue;
  const auto bytes = static_cast<std::size_t>(result_bits / 8);
  Touched touched;
  touched.Vector(Access::kRead, operands.x, n, operands.step_x, operands.bits_x);
  touched.Vector(Access::kRead, operands.y, n, operands.step_y, operands.bits_y);
  if (const int status = EnqueueOn(handle, name, touched); status != 0) return status;
  const bool to_host = static_cast<Object*>(handle)->mode == kCublasPointerModeHost;
  const int written = to_host ? WriteOnHost(StreamOf(handle), result, bytes, low)
                              : WriteOnDevice(StreamOf(handle), result, bytes, low);
  return written == 0 ? 0 : kCublasExecutionFailed;
}

}  // namespace

#define CUHEAP_DOT(suffix, Int, name, bits)                                                 \
  CUHEAP_STANDIN int cublas##name##_v2##suffix(Handle handle, Int n, const void* x, Int sx, \
                                               const void* y, Int sy, void* result) {       \
    return Number(handle, "cublas" #name, n, {x, sx, bits, y, sy, bits}, result, bits);     \
  }
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Sdot, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Ddot, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Cdotu, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Cdotc, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Zdotu, 128)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT, Zdotc, 128)

#define CUHEAP_DOT_EX(suffix, Int, name)                                                       \
  CUHEAP_STANDIN int cublas##name##Ex##suffix(Handle handle, Int n, const void* x, int type_x, \
                                              Int sx, const void* y, int type_y, Int sy,       \
                                              void* result, int type, int) {                   \
    return Number(handle, "cublas" #name "Ex", n,                                              \
                  {x, sx, BitsOfType(type_x), y, sy, BitsOfType(type_y)}, result,              \
                  BitsOfType(type));                                                           \
  }
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT_EX, Dot)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_DOT_EX, Dotc)

#define CUHEAP_REDUCTION(suffix, Int, name, bits, result_bits)                              \
  CUHEAP_STANDIN int cublas##name##_v2##suffix(Handle handle, Int n, const void* x, Int sx, \
                                               void* result) {                              \
    return Number(handle, "cublas" #name, n, {x, sx, bits}, result, result_bits);           \
  }
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Sasum, 32, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Dasum, 64, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Scasum, 64, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Dzasum, 128, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Snrm2, 32, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Dnrm2, 64, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Scnrm2, 64, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_REDUCTION, Dznrm2, 128, 64)

// An index is as wide as the sizes.
#define CUHEAP_INDEX(suffix, Int, name, bits)                                               \
  CUHEAP_STANDIN int cublas##name##_v2##suffix(Handle handle, Int n, const void* x, Int sx, \
                                               Int* result) {                               \
    return Number(handle, "cublas" #name, n, {x, sx, bits}, result, 8 * sizeof(Int),        \
                  n > 0 ? 1 : 0);                                                           \
  }
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Isamax, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Idamax, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Icamax, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Izamax, 128)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Isamin, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Idamin, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Icamin, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_INDEX, Izamin, 128)
