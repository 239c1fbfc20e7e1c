// cuBLAS: products of matrices, the GEMM family. The matrices of a batch given by pointers lie
// where device memory says, which nobody reads here: only the arrays of pointers are named.
#include "tests/sim/standins/cublas_handle.h"
#include "tests/sim/standins/types.h"

using namespace cuheap::sim_standin;

namespace {

struct Typed {
  const void* base;
  int bits;
  std::int64_t ld;
  std::int64_t stride = 0;
};

// C (m x n) of A (m x k) and B (k x n), as they are after their operations.
int Multiply(Handle handle, const char* name, int of_a, int of_b, std::int64_t m, std::int64_t n,
             std::int64_t k, const Typed& a, const Typed& b, const Typed& c,
             std::int64_t batch = 1) {
  return Compute(handle, name,
                 {Operand(of_a, a.base, m, k, a.ld, a.bits, batch, a.stride),
                  Operand(of_b, b.base, k, n, b.ld, b.bits, batch, b.stride)},
                 {c.base, m, n, c.ld, c.bits, batch, c.stride});
}

int MultiplyBatched(Handle handle, const char* name, const void* a, const void* b, const void* c,
                    std::int64_t batch) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (batch < 0) return kCublasInvalidValue;
  if (batch == 0) return 0;
  Touched touched;
  for (const void* pointers : {a, b, c})
    touched.Bytes(Access::kRead, pointers, static_cast<std::uint64_t>(batch) * sizeof(void*));
  return EnqueueOn(handle, name, touched);
}

}  // namespace

#define CUHEAP_GEMM(suffix, Int, T, bits)                                                          \
  CUHEAP_STANDIN int cublas##T##gemm_v2##suffix(                                                   \
      Handle handle, int of_a, int of_b, Int m, Int n, Int k, const void*, const void* a, Int lda, \
      const void* b, Int ldb, const void*, void* c, Int ldc) {                                     \
    return Multiply(handle, "cublas" #T "gemm", of_a, of_b, m, n, k, {a, bits, lda},               \
                    {b, bits, ldb}, {c, bits, ldc});                                               \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##gemmStridedBatched##suffix(                                        \
      Handle handle, int of_a, int of_b, Int m, Int n, Int k, const void*, const void* a, Int lda, \
      long long stride_a, const void* b, Int ldb, long long stride_b, const void*, void* c,        \
      Int ldc, long long stride_c, Int batch) {                                                    \
    return Multiply(handle, "cublas" #T "gemmStridedBatched", of_a, of_b, m, n, k,                 \
                    {a, bits, lda, stride_a}, {b, bits, ldb, stride_b}, {c, bits, ldc, stride_c},  \
                    batch);                                                                        \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##gemmBatched##suffix(                                               \
      Handle handle, int, int, Int, Int, Int, const void*, const void* const* a, Int,              \
      const void* const* b, Int, const void*, void* const* c, Int, Int batch) {                    \
    return MultiplyBatched(handle, "cublas" #T "gemmBatched", a, b, c, batch);                     \
  }
CUHEAP_CUBLAS_TYPES(CUHEAP_GEMM)

#define CUHEAP_GEMM_EX(suffix, Int, unused)                                                        \
  CUHEAP_STANDIN int cublasSgemmEx##suffix(Handle handle, int of_a, int of_b, Int m, Int n, Int k, \
                                           const void*, const void* a, int type_a, Int lda,        \
                                           const void* b, int type_b, Int ldb, const void*,        \
                                           void* c, int type_c, Int ldc) {                         \
    return Multiply(handle, "cublasSgemmEx", of_a, of_b, m, n, k, {a, BitsOfType(type_a), lda},    \
                    {b, BitsOfType(type_b), ldb}, {c, BitsOfType(type_c), ldc});                   \
  }                                                                                                \
  CUHEAP_STANDIN int cublasGemmEx##suffix(Handle handle, int of_a, int of_b, Int m, Int n, Int k,  \
                                          const void*, const void* a, int type_a, Int lda,         \
                                          const void* b, int type_b, Int ldb, const void*,         \
                                          void* c, int type_c, Int ldc, int, int) {                \
    return Multiply(handle, "cublasGemmEx", of_a, of_b, m, n, k, {a, BitsOfType(type_a), lda},     \
                    {b, BitsOfType(type_b), ldb}, {c, BitsOfType(type_c), ldc});                   \
  }                                                                                                \
  CUHEAP_STANDIN int cublasGemmStridedBatchedEx##suffix(                                           \
      Handle handle, int of_a, int of_b, Int m, Int n, Int k, const void*, const void* a,          \
      int type_a, Int lda, long long stride_a, const void* b, int type_b, Int ldb,                 \
      long long stride_b, const void*, void* c, int type_c, Int ldc, long long stride_c,           \
      Int batch, int, int) {                                                                       \
    return Multiply(handle, "cublasGemmStridedBatchedEx", of_a, of_b, m, n, k,                     \
                    {a, BitsOfType(type_a), lda, stride_a},                                        \
                    {b, BitsOfType(type_b), ldb, stride_b},                                        \
                    {c, BitsOfType(type_c), ldc, stride_c}, batch);                                \
  }                                                                                                \
  CUHEAP_STANDIN int cublasGemmBatchedEx##suffix(Handle handle, int, int, Int, Int, Int,           \
                                                 const void*, const void* const* a, int, Int,      \
                                                 const void* const* b, int, Int, const void*,      \
                                                 void* const* c, int, Int, Int batch, int, int) {  \
    return MultiplyBatched(handle, "cublasGemmBatchedEx", a, b, c, batch);                         \
  }
CUHEAP_CUBLAS_WIDTHS(CUHEAP_GEMM_EX, )
