// What the files of cuBLAS's stand-in share: its codes, its handle, and the one way in which work
// is enqueued.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "tests/sim/standins/enqueue.h"
#include "tests/sim/standins/standin.h"
#include "tests/sim/standins/touched.h"

namespace cuheap::sim_standin {

inline constexpr int kCublasNotInitialized = 1;
inline constexpr int kCublasInvalidValue = 7;
inline constexpr int kCublasExecutionFailed = 13;
inline constexpr int kCublasPointerModeHost = 0;

// cublasOperation_t, cublasSideMode_t, cublasFillMode_t.
inline constexpr int kCublasNoTranspose = 0;
inline constexpr int kCublasLeft = 0;
inline constexpr int kCublasUpper = 1;

inline Stream StreamOf(Handle handle) { return static_cast<Object*>(handle)->stream; }

// Sizes are not negative, and columns do not overlap.
inline bool IsValid(const Matrix& matrix) {
  return matrix.rows >= 0 && matrix.columns >= 0 && matrix.batch >= 0 && matrix.bits > 0 &&
         matrix.ld >= std::max<std::int64_t>(1, matrix.rows);
}

inline int EnqueueOn(Handle handle, const char* name, const Touched& touched) {
  return Enqueue(StreamOf(handle), name, touched) == 0 ? 0 : kCublasExecutionFailed;
}

// A stored operand of `rows` x `columns` after its operation.
inline Matrix Operand(int operation, const void* base, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, int bits, std::int64_t batch = 1, std::int64_t stride = 0) {
  if (operation != kCublasNoTranspose) std::swap(rows, columns);
  return {base, rows, columns, ld, bits, batch, stride};
}

// Reads all of `read`, writes `written`; an empty result is no work.
inline int Compute(Handle handle, const char* name, std::initializer_list<Matrix> read,
                   const Matrix& written) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (!std::all_of(read.begin(), read.end(), IsValid) || !IsValid(written))
    return kCublasInvalidValue;
  if (written.rows == 0 || written.columns == 0 || written.batch == 0) return 0;
  Touched touched;
  for (const Matrix& matrix : read) touched.Add(Access::kRead, matrix);
  touched.Add(Access::kWrite, written);
  return EnqueueOn(handle, name, touched);
}

// Every function for the four types of BLAS (letter, bits of an element), with 32-bit sizes and,
// as NAME_64, with 64-bit ones.
#define CUHEAP_CUBLAS_WIDTHS(define, ...) \
  define(, int, __VA_ARGS__) define(_64, std::int64_t, __VA_ARGS__)
#define CUHEAP_CUBLAS_REAL_TYPES(define) \
  CUHEAP_CUBLAS_WIDTHS(define, S, 32) CUHEAP_CUBLAS_WIDTHS(define, D, 64)
#define CUHEAP_CUBLAS_COMPLEX_TYPES(define) \
  CUHEAP_CUBLAS_WIDTHS(define, C, 64) CUHEAP_CUBLAS_WIDTHS(define, Z, 128)
#define CUHEAP_CUBLAS_TYPES(define) \
  CUHEAP_CUBLAS_REAL_TYPES(define) CUHEAP_CUBLAS_COMPLEX_TYPES(define)

}  // namespace cuheap::sim_standin
