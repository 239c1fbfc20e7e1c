// cuBLAS: what else has matrices for operands (level 3). Of a symmetric or triangular matrix one
// triangle is touched.
#include "tests/sim/standins/cublas_handle.h"

using namespace cuheap::sim_standin;

namespace {

Matrix Square(const void* base, std::int64_t n, std::int64_t ld, int bits) {
  return {base, n, n, ld, bits};
}

// `written` (m x n) of `other` (m x n, may be null) and a triangle at its side.
int WithTriangle(Handle handle, const char* name, int fill, const Matrix& triangle,
                 const Matrix& other, const Matrix& written) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (!IsValid(triangle) || !IsValid(other) || !IsValid(written)) return kCublasInvalidValue;
  if (written.rows == 0 || written.columns == 0) return 0;
  Touched touched;
  touched.Triangle(Access::kRead, triangle, fill == kCublasUpper);
  touched.Add(Access::kRead, other);
  touched.Add(Access::kWrite, written);
  return EnqueueOn(handle, name, touched);
}

// A triangle of C (n x n) of A and B (n x k after their operation).
int UpdateTriangle(Handle handle, const char* name, int fill, const Matrix& a, const Matrix& b,
                   const Matrix& c) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (!IsValid(a) || !IsValid(b) || !IsValid(c)) return kCublasInvalidValue;
  if (c.rows == 0) return 0;
  Touched touched;
  touched.Add(Access::kRead, a);
  touched.Add(Access::kRead, b);
  touched.Triangle(Access::kWrite, c, fill == kCublasUpper);
  return EnqueueOn(handle, name, touched);
}

}  // namespace

#define CUHEAP_SYMMETRIC_PRODUCT(suffix, Int, T, bits, name)                                \
  CUHEAP_STANDIN int cublas##T##name##_v2##suffix(                                          \
      Handle handle, int side, int fill, Int m, Int n, const void*, const void* a, Int lda, \
      const void* b, Int ldb, const void*, void* c, Int ldc) {                              \
    const Int order = side == kCublasLeft ? m : n;                                          \
    return WithTriangle(handle, "cublas" #T #name, fill, Square(a, order, lda, bits),       \
                        {b, m, n, ldb, bits}, {c, m, n, ldc, bits});                        \
  }
#define CUHEAP_RANK_K(suffix, Int, T, bits, name)                                                 \
  CUHEAP_STANDIN int cublas##T##name##k_v2##suffix(Handle handle, int fill, int operation, Int n, \
                                                   Int k, const void*, const void* a, Int lda,    \
                                                   const void*, void* c, Int ldc) {               \
    const Matrix factor = Operand(operation, a, n, k, lda, bits);                                 \
    return UpdateTriangle(handle, "cublas" #T #name "k", fill, factor, factor,                    \
                          Square(c, n, ldc, bits));                                               \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##name##2k_v2##suffix(                                              \
      Handle handle, int fill, int operation, Int n, Int k, const void*, const void* a, Int lda,  \
      const void* b, Int ldb, const void*, void* c, Int ldc) {                                    \
    return UpdateTriangle(handle, "cublas" #T #name "2k", fill,                                   \
                          Operand(operation, a, n, k, lda, bits),                                 \
                          Operand(operation, b, n, k, ldb, bits), Square(c, n, ldc, bits));       \
  }
#define CUHEAP_TRIANGULAR(suffix, Int, T, bits)                                                    \
  CUHEAP_STANDIN int cublas##T##trmm_v2##suffix(Handle handle, int side, int fill, int, int,       \
                                                Int m, Int n, const void*, const void* a, Int lda, \
                                                const void* b, Int ldb, void* c, Int ldc) {        \
    const Int order = side == kCublasLeft ? m : n;                                                 \
    return WithTriangle(handle, "cublas" #T "trmm", fill, Square(a, order, lda, bits),             \
                        {b, m, n, ldb, bits}, {c, m, n, ldc, bits});                               \
  }                                                                                                \
  CUHEAP_STANDIN int cublas##T##trsm_v2##suffix(Handle handle, int side, int fill, int, int,       \
                                                Int m, Int n, const void*, const void* a, Int lda, \
                                                void* b, Int ldb) {                                \
    const Int order = side == kCublasLeft ? m : n;                                                 \
    const Matrix both{b, m, n, ldb, bits};                                                         \
    return WithTriangle(handle, "cublas" #T "trsm", fill, Square(a, order, lda, bits), both,       \
                        both);                                                                     \
  }

#define CUHEAP_MATRICES(suffix, Int, T, bits)          \
  CUHEAP_SYMMETRIC_PRODUCT(suffix, Int, T, bits, symm) \
  CUHEAP_RANK_K(suffix, Int, T, bits, syr)             \
  CUHEAP_TRIANGULAR(suffix, Int, T, bits)
#define CUHEAP_HERMITIAN_MATRICES(suffix, Int, T, bits) \
  CUHEAP_SYMMETRIC_PRODUCT(suffix, Int, T, bits, hemm)  \
  CUHEAP_RANK_K(suffix, Int, T, bits, her)
CUHEAP_CUBLAS_TYPES(CUHEAP_MATRICES)
CUHEAP_CUBLAS_COMPLEX_TYPES(CUHEAP_HERMITIAN_MATRICES)
