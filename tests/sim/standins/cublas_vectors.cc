// cuBLAS: what has vectors for operands (levels 1 and 2) and gives no number.
#include "tests/sim/standins/cublas_handle.h"

using namespace cuheap::sim_standin;

namespace {

struct BlasVector {
  Access access;
  const void* base;
  std::int64_t count;
  std::int64_t increment;
};

int OnVectors(Handle handle, const char* name, int bits, std::initializer_list<BlasVector> vectors,
              Touched touched = {}) {
  if (handle == nullptr) return kCublasNotInitialized;
  for (const BlasVector& vector : vectors)
    touched.Vector(vector.access, vector.base, vector.count, vector.increment, bits);
  return touched.empty() ? 0 : EnqueueOn(handle, name, touched);
}

bool IsStep(std::int64_t increment) { return increment != 0; }

int OnMatrix(Handle handle, const char* name, Access access, const Matrix& matrix,
             const BlasVector& x, const BlasVector& y) {
  if (!IsValid(matrix) || !IsStep(x.increment) || !IsStep(y.increment)) return kCublasInvalidValue;
  if (matrix.rows == 0 || matrix.columns == 0) return 0;
  Touched touched;
  touched.Add(access, matrix);
  return OnVectors(handle, name, matrix.bits, {x, y}, touched);
}

int OnTriangle(Handle handle, const char* name, Access access, int fill, const Matrix& square,
               const BlasVector& x, const BlasVector& y) {
  if (!IsValid(square) || !IsStep(x.increment) || !IsStep(y.increment)) return kCublasInvalidValue;
  if (square.rows == 0) return 0;
  Touched touched;
  touched.Triangle(access, square, fill == kCublasUpper);
  return OnVectors(handle, name, square.bits, {x, y}, touched);
}

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

}  // namespace

// Level 1.
#define CUHEAP_PAIR(suffix, Int, name, bits)                                                       \
  CUHEAP_STANDIN int cublas##name##_v2##suffix(Handle handle, Int n, void* x, Int step_x, void* y, \
                                               Int step_y, const void*, const void*) {             \
    return OnVectors(handle, "cublas" #name, bits,                                                 \
                     {{kWrite, x, n, step_x}, {kWrite, y, n, step_y}});                            \
  }
#define CUHEAP_SCALE(suffix, Int, name, bits)                                              \
  CUHEAP_STANDIN int cublas##name##_v2##suffix(Handle handle, Int n, const void*, void* x, \
                                               Int step_x) {                               \
    return OnVectors(handle, "cublas" #name, bits, {{kWrite, x, n, step_x}});              \
  }
#define CUHEAP_LEVEL_1(suffix, Int, T, bits)                                                      \
  CUHEAP_STANDIN int cublas##T##axpy_v2##suffix(Handle handle, Int n, const void*, const void* x, \
                                                Int step_x, void* y, Int step_y) {                \
    return OnVectors(handle, "cublas" #T "axpy", bits,                                            \
                     {{kRead, x, n, step_x}, {kWrite, y, n, step_y}});                            \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##copy_v2##suffix(Handle handle, Int n, const void* x, Int step_x,  \
                                                void* y, Int step_y) {                            \
    return OnVectors(handle, "cublas" #T "copy", bits,                                            \
                     {{kRead, x, n, step_x}, {kWrite, y, n, step_y}});                            \
  }                                                                                               \
  CUHEAP_STANDIN int cublas##T##swap_v2##suffix(Handle handle, Int n, void* x, Int step_x,        \
                                                void* y, Int step_y) {                            \
    return OnVectors(handle, "cublas" #T "swap", bits,                                            \
                     {{kWrite, x, n, step_x}, {kWrite, y, n, step_y}});                           \
  }                                                                                               \
  CUHEAP_PAIR(suffix, Int, T##rot, bits)                                                          \
  CUHEAP_SCALE(suffix, Int, T##scal, bits)
CUHEAP_CUBLAS_TYPES(CUHEAP_LEVEL_1)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_PAIR, Csrot, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_PAIR, Zdrot, 128)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_SCALE, Csscal, 64)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_SCALE, Zdscal, 128)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_PAIR, Srotm, 32)
CUHEAP_CUBLAS_WIDTHS(CUHEAP_PAIR, Drotm, 64)

// Level 2.
#define CUHEAP_GENERAL(suffix, Int, T, bits)                                                 \
  CUHEAP_STANDIN int cublas##T##gemv_v2##suffix(                                             \
      Handle handle, int operation, Int m, Int n, const void*, const void* a, Int lda,       \
      const void* x, Int step_x, const void*, void* y, Int step_y) {                         \
    const bool plain = operation == kCublasNoTranspose;                                      \
    return OnMatrix(handle, "cublas" #T "gemv", kRead, {a, m, n, lda, bits},                 \
                    {kRead, x, plain ? n : m, step_x}, {kWrite, y, plain ? m : n, step_y});  \
  }                                                                                          \
  CUHEAP_STANDIN int cublas##T##trmv_v2##suffix(Handle handle, int fill, int, int, Int n,    \
                                                const void* a, Int lda, void* x, Int step) { \
    return OnTriangle(handle, "cublas" #T "trmv", kRead, fill, {a, n, n, lda, bits},         \
                      {kWrite, x, n, step}, {kRead, nullptr, 0, 1});                         \
  }                                                                                          \
  CUHEAP_STANDIN int cublas##T##trsv_v2##suffix(Handle handle, int fill, int, int, Int n,    \
                                                const void* a, Int lda, void* x, Int step) { \
    return OnTriangle(handle, "cublas" #T "trsv", kRead, fill, {a, n, n, lda, bits},         \
                      {kWrite, x, n, step}, {kRead, nullptr, 0, 1});                         \
  }
#define CUHEAP_RANK_1(suffix, Int, T, bits, name)                                           \
  CUHEAP_STANDIN int cublas##T##name##_v2##suffix(Handle handle, Int m, Int n, const void*, \
                                                  const void* x, Int step_x, const void* y, \
                                                  Int step_y, void* a, Int lda) {           \
    return OnMatrix(handle, "cublas" #T #name, kWrite, {a, m, n, lda, bits},                \
                    {kRead, x, m, step_x}, {kRead, y, n, step_y});                          \
  }
#define CUHEAP_SYMMETRIC(suffix, Int, T, bits, name)                                             \
  CUHEAP_STANDIN int cublas##T##name##mv_v2##suffix(                                             \
      Handle handle, int fill, Int n, const void*, const void* a, Int lda, const void* x,        \
      Int step_x, const void*, void* y, Int step_y) {                                            \
    return OnTriangle(handle, "cublas" #T #name "mv", kRead, fill, {a, n, n, lda, bits},         \
                      {kRead, x, n, step_x}, {kWrite, y, n, step_y});                            \
  }                                                                                              \
  CUHEAP_STANDIN int cublas##T##name##r_v2##suffix(Handle handle, int fill, Int n, const void*,  \
                                                   const void* x, Int step, void* a, Int lda) {  \
    return OnTriangle(handle, "cublas" #T #name "r", kWrite, fill, {a, n, n, lda, bits},         \
                      {kRead, x, n, step}, {kRead, nullptr, 0, 1});                              \
  }                                                                                              \
  CUHEAP_STANDIN int cublas##T##name##r2_v2##suffix(Handle handle, int fill, Int n, const void*, \
                                                    const void* x, Int step_x, const void* y,    \
                                                    Int step_y, void* a, Int lda) {              \
    return OnTriangle(handle, "cublas" #T #name "r2", kWrite, fill, {a, n, n, lda, bits},        \
                      {kRead, x, n, step_x}, {kRead, y, n, step_y});                             \
  }
#define CUHEAP_REAL_LEVEL_2(suffix, Int, T, bits) \
  CUHEAP_GENERAL(suffix, Int, T, bits)            \
  CUHEAP_RANK_1(suffix, Int, T, bits, ger)        \
  CUHEAP_SYMMETRIC(suffix, Int, T, bits, sy)
#define CUHEAP_COMPLEX_LEVEL_2(suffix, Int, T, bits) \
  CUHEAP_GENERAL(suffix, Int, T, bits)               \
  CUHEAP_RANK_1(suffix, Int, T, bits, geru)          \
  CUHEAP_RANK_1(suffix, Int, T, bits, gerc)          \
  CUHEAP_SYMMETRIC(suffix, Int, T, bits, sy)         \
  CUHEAP_SYMMETRIC(suffix, Int, T, bits, he)
CUHEAP_CUBLAS_REAL_TYPES(CUHEAP_REAL_LEVEL_2)
CUHEAP_CUBLAS_COMPLEX_TYPES(CUHEAP_COMPLEX_LEVEL_2)
