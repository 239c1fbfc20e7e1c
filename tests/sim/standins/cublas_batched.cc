// cuBLAS: factorisations and solvers of many small matrices. They say on the host whether their
// arguments were right, and on the device how each matrix fared. Where the matrices lie only device
// memory says, so the arrays of pointers are what is named.
#include "tests/sim/standins/cublas_handle.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kWordBits = 32;

int OnBatch(Handle handle, const char* name, std::initializer_list<const void*> arrays, int batch,
            Touched touched = {}) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (batch < 0) return kCublasInvalidValue;
  if (batch == 0) return 0;
  for (const void* pointers : arrays)
    touched.Bytes(Access::kRead, pointers, static_cast<std::uint64_t>(batch) * sizeof(void*));
  return EnqueueOn(handle, name, touched);
}

// How each matrix fared: well.
int WriteStatus(Handle handle, int status, int* device_info, int batch) {
  if (status != 0 || batch == 0) return status;
  const auto words = static_cast<std::size_t>(batch);
  return ZeroDeviceWords(device_info, words, StreamOf(handle)) == 0 ? 0 : kCublasExecutionFailed;
}

int Checked(int status, int* host_info) {
  if (host_info == nullptr) return kCublasInvalidValue;
  if (status == 0) *host_info = 0;
  return status;
}

Touched Pivots(Access access, const int* pivots, std::int64_t n, int batch) {
  Touched touched;
  touched.Box(access, pivots, {{n * batch, 1}}, kWordBits);
  return touched;
}

}  // namespace

#define CUHEAP_BATCHED(T)                                                                          \
  CUHEAP_STANDIN int cublas##T##geqrfBatched(Handle handle, int, int, void* const* a, int,         \
                                             void* const* tau, int* info, int batch) {             \
    return Checked(OnBatch(handle, "cublas" #T "geqrfBatched", {a, tau}, batch), info);            \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##gelsBatched(Handle handle, int, int, int, int, void* const* a,     \
                                            int, void* const* c, int, int* info, int* device_info, \
                                            int batch) {                                           \
    const int status = OnBatch(handle, "cublas" #T "gelsBatched", {a, c}, batch);                  \
    return Checked(WriteStatus(handle, status, device_info, batch), info);                         \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##getrsBatched(Handle handle, int, int n, int, const void* const* a, \
                                             int, const int* pivots, void* const* b, int,          \
                                             int* info, int batch) {                               \
    return Checked(OnBatch(handle, "cublas" #T "getrsBatched", {a, b}, batch,                      \
                           Pivots(Access::kRead, pivots, n, batch)),                               \
                   info);                                                                          \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##getrfBatched(Handle handle, int n, void* const* a, int,            \
                                             int* pivots, int* device_info, int batch) {           \
    const int status = OnBatch(handle, "cublas" #T "getrfBatched", {a}, batch,                     \
                               Pivots(Access::kWrite, pivots, n, batch));                          \
    return WriteStatus(handle, status, device_info, batch);                                        \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##trsmBatched(Handle handle, int, int, int, int, int, int,           \
                                            const void*, const void* const* a, int,                \
                                            void* const* b, int, int batch) {                      \
    return OnBatch(handle, "cublas" #T "trsmBatched", {a, b}, batch);                              \
  }
CUHEAP_BATCHED(S)
CUHEAP_BATCHED(D)
CUHEAP_BATCHED(C)
CUHEAP_BATCHED(Z)
