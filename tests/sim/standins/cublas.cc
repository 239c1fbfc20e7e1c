// cuBLAS: handles, modes, and the results that reductions and batched solvers return through host
// pointers.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kPointerModeHost = 0;

// A scalar result goes where the pointer mode says; on the host it must be written.
int WriteScalar(Handle handle, void* result, std::size_t bytes) {
  if (static_cast<Object*>(handle)->mode == kPointerModeHost) std::memset(result, 0, bytes);
  return 0;
}

std::size_t BytesOfType(int type) {
  constexpr int kReal32 = 0;
  constexpr int kReal64 = 1;
  constexpr int kReal16 = 2;
  constexpr int kBfloat16 = 14;
  if (type == kReal16 || type == kBfloat16) return 2;
  if (type == kReal32) return 4;
  if (type == kReal64) return 8;
  return 16;
}

}  // namespace

CUHEAP_STANDIN int cublasCreate_v2(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cublasDestroy_v2(Handle handle) { return Destroy(handle); }

CUHEAP_STANDIN int cublasSetStream_v2(Handle handle, Stream stream) {
  SetStream(handle, stream);
  return 0;
}

CUHEAP_STANDIN int cublasSetPointerMode_v2(Handle handle, int mode) {
  static_cast<Object*>(handle)->mode = mode;
  return 0;
}

CUHEAP_STANDIN int cublasGetPointerMode_v2(Handle handle, int* mode) {
  *mode = static_cast<Object*>(handle)->mode;
  return 0;
}

CUHEAP_STANDIN int cublasSetMathMode(Handle handle, int mode) {
  static_cast<Object*>(handle)->math = mode;
  return 0;
}

CUHEAP_STANDIN int cublasGetMathMode(Handle handle, int* mode) {
  *mode = static_cast<Object*>(handle)->math;
  return 0;
}

#define CUHEAP_DOT(name, bytes)                                                                   \
  CUHEAP_STANDIN int name(Handle handle, int, const void*, int, const void*, int, void* result) { \
    return WriteScalar(handle, result, bytes);                                                    \
  }
CUHEAP_DOT(cublasSdot_v2, 4)
CUHEAP_DOT(cublasDdot_v2, 8)
CUHEAP_DOT(cublasCdotu_v2, 8)
CUHEAP_DOT(cublasCdotc_v2, 8)
CUHEAP_DOT(cublasZdotu_v2, 16)
CUHEAP_DOT(cublasZdotc_v2, 16)

CUHEAP_STANDIN int cublasDotEx(Handle handle, int, const void*, int, int, const void*, int, int,
                               void* result, int type, int) {
  return WriteScalar(handle, result, BytesOfType(type));
}

#define CUHEAP_REDUCTION(name, bytes)                                           \
  CUHEAP_STANDIN int name(Handle handle, int, const void*, int, void* result) { \
    return WriteScalar(handle, result, bytes);                                  \
  }
CUHEAP_REDUCTION(cublasSasum_v2, 4)
CUHEAP_REDUCTION(cublasDasum_v2, 8)
CUHEAP_REDUCTION(cublasScasum_v2, 4)
CUHEAP_REDUCTION(cublasDzasum_v2, 8)
CUHEAP_REDUCTION(cublasSnrm2_v2, 4)
CUHEAP_REDUCTION(cublasDnrm2_v2, 8)
CUHEAP_REDUCTION(cublasScnrm2_v2, 4)
CUHEAP_REDUCTION(cublasDznrm2_v2, 8)
CUHEAP_REDUCTION(cublasIsamax_v2, 4)
CUHEAP_REDUCTION(cublasIdamax_v2, 4)
CUHEAP_REDUCTION(cublasIcamax_v2, 4)
CUHEAP_REDUCTION(cublasIzamax_v2, 4)
CUHEAP_REDUCTION(cublasIsamin_v2, 4)
CUHEAP_REDUCTION(cublasIdamin_v2, 4)
CUHEAP_REDUCTION(cublasIcamin_v2, 4)
CUHEAP_REDUCTION(cublasIzamin_v2, 4)

// The batched factorisations and solvers say on the host whether their arguments were right, and on
// the device how each matrix fared.
#define CUHEAP_BATCHED(T)                                                                         \
  CUHEAP_STANDIN int cublas##T##geqrfBatched(Handle, int, int, void*, int, void*, int* info,      \
                                             int) {                                               \
    *info = 0;                                                                                    \
    return 0;                                                                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##gelsBatched(Handle handle, int, int, int, int, void*, int, void*, \
                                            int, int* info, int* device_info, int batch) {        \
    *info = 0;                                                                                    \
    ZeroDeviceWords(device_info, static_cast<std::size_t>(batch),                                 \
                    static_cast<Object*>(handle)->stream);                                        \
    return 0;                                                                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##getrsBatched(Handle, int, int, int, const void*, int, const int*, \
                                             void*, int, int* info, int) {                        \
    *info = 0;                                                                                    \
    return 0;                                                                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##getrfBatched(Handle handle, int, void*, int, int*,                \
                                             int* device_info, int batch) {                       \
    ZeroDeviceWords(device_info, static_cast<std::size_t>(batch),                                 \
                    static_cast<Object*>(handle)->stream);                                        \
    return 0;                                                                                     \
  }
CUHEAP_BATCHED(S)
CUHEAP_BATCHED(D)
CUHEAP_BATCHED(C)
CUHEAP_BATCHED(Z)
