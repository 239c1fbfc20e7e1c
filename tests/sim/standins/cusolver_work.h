// How the files of cuSOLVER's stand-in enqueue work, and how large its work spaces are. cuSOLVER
// says no sizes in its documentation; where LAPACK's routine of the same name has a formula for its
// LWORK, that is taken, since both block and recurse alike.
#pragma once

#include <algorithm>
#include <climits>

#include "tests/sim/standins/enqueue.h"
#include "tests/sim/standins/types.h"

namespace cuheap::sim_standin {

inline constexpr int kSolverNotInitialized = 1;
inline constexpr int kSolverInvalidValue = 3;
inline constexpr int kSolverExecutionFailed = 6;

inline constexpr int kPivotBits = 32;

// LAPACK's optimum of a blocked factorisation of `columns` columns: a panel of 64 of them.
inline std::int64_t PanelElements(std::int64_t columns) {
  return std::max<std::int64_t>(1, columns) * 64;
}
// xSYEVD with vectors: 1 + 6 n + 2 n^2.
inline std::int64_t EigenElements(std::int64_t n) { return 1 + 6 * n + 2 * n * n; }
// xGESVD: max(3 min + max, 5 min), and the panel of the bidiagonalisation.
inline std::int64_t SvdElements(std::int64_t m, std::int64_t n) {
  const std::int64_t small = std::min(m, n);
  return std::max(3 * small + std::max(m, n), 5 * small) + PanelElements(small);
}
// Jacobi's method turns a copy of the matrix and gathers the vectors of its smaller side.
inline std::int64_t JacobiElements(std::int64_t m, std::int64_t n) {
  const std::int64_t small = std::min(m, n);
  return m * n + small * small + PanelElements(small);
}
// xGEEV: 4 n with vectors, a copy of the matrix, and the panel of the Hessenberg reduction.
inline std::int64_t GeneralEigenElements(std::int64_t n) {
  return n * n + 4 * n + PanelElements(n);
}

inline int WriteElements(std::int64_t elements, int* out) {
  if (out == nullptr || elements < 0 || elements > INT_MAX) return kSolverInvalidValue;
  *out = static_cast<int>(elements);
  return 0;
}

inline int WriteBytes(std::int64_t device_elements, std::int64_t host_elements, int compute_type,
                      std::size_t* device, std::size_t* host) {
  if (device == nullptr || host == nullptr || device_elements < 0) return kSolverInvalidValue;
  const auto bytes = static_cast<std::size_t>(BitsOfType(compute_type)) / 8;
  *device = static_cast<std::size_t>(device_elements) * bytes;
  *host = static_cast<std::size_t>(host_elements) * bytes;
  return 0;
}

// The work of one call: `bits` of an element.
class SolverWork {
 public:
  SolverWork(Handle handle, int bits) : handle_(handle), bits_(bits) {}

  SolverWork& Reads(const void* base, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return Named(Access::kRead, {base, rows, columns, ld, bits_});
  }
  SolverWork& Writes(const void* base, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return Named(Access::kWrite, {base, rows, columns, ld, bits_});
  }
  SolverWork& Named(Access access, const Matrix& matrix) {
    touched_.Add(access, matrix);
    return *this;
  }
  // Vectors, and work space.
  SolverWork& Reads(const void* base, std::int64_t elements) {
    return Reads(base, elements, 1, elements);
  }
  SolverWork& Writes(const void* base, std::int64_t elements) {
    return Writes(base, elements, 1, elements);
  }
  // The same with elements of another type.
  SolverWork& Vector(Access access, const void* base, std::int64_t elements, int bits) {
    touched_.Vector(access, base, elements, 1, bits);
    return *this;
  }
  SolverWork& Bytes(Access access, const void* base, std::uint64_t bytes) {
    touched_.Bytes(access, base, bytes);
    return *this;
  }

  // Enqueues it; then the status words, one for each matrix: solved.
  int Solve(const char* name, int* info, std::int64_t batch = 1) const {
    if (handle_ == nullptr) return kSolverNotInitialized;
    if (batch < 0) return kSolverInvalidValue;
    const Stream stream = static_cast<Object*>(handle_)->stream;
    if (Enqueue(stream, name, touched_) != 0) return kSolverExecutionFailed;
    const int told = ZeroDeviceWords(info, static_cast<std::size_t>(batch), stream);
    return told == 0 ? 0 : kSolverExecutionFailed;
  }

 private:
  Handle handle_;
  int bits_;
  Touched touched_;
};

// For the four types: letter, bits of an element, bits of a real number of the same precision.
#define CUHEAP_SOLVER_TYPES(define) \
  define(S, 32, 32) define(D, 64, 64) define(C, 64, 32) define(Z, 128, 64)

}  // namespace cuheap::sim_standin
