// What cuSPARSE's stand-in remembers of matrices and vectors, and how it names their memory.
#pragma once

#include "tests/sim/standins/enqueue.h"
#include "tests/sim/standins/types.h"

namespace cuheap::sim_standin {

inline constexpr int kSparseNotInitialized = 1;
inline constexpr int kSparseInvalidValue = 3;
inline constexpr int kSparseExecutionFailed = 6;

inline constexpr int kSparseNoTranspose = 0;
inline constexpr int kSparseIntBits = 32;

// One of the arrays of a sparse matrix; `stride`: from one matrix of a batch to the next, 0:
// shared.
struct SparseArray {
  void* base = nullptr;
  std::int64_t count = 0;
  int bits = 0;
  std::int64_t stride = 0;
};

struct SparseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  std::int64_t batch = 1;
  SparseArray row_index{};  // offsets of rows, or the row of each entry
  SparseArray column_index{};
  SparseArray values{};
};

struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t ld = 0;
  void* values = nullptr;
  int bits = 0;
  bool by_rows = false;
  std::int64_t batch = 1;
  std::int64_t stride = 0;
};

struct DenseVector {
  std::int64_t count = 0;
  void* values = nullptr;
  int bits = 0;
};

// The work of one call.
class SparseWork {
 public:
  explicit SparseWork(Handle handle) : handle_(handle) {}

  // `access` is that of the values; indices are read.
  SparseWork& Sparse(Access access, Handle matrix) {
    const auto& sparse = *static_cast<const SparseMatrix*>(matrix);
    Array(Access::kRead, sparse.row_index, sparse.batch);
    Array(Access::kRead, sparse.column_index, sparse.batch);
    Array(access, sparse.values, sparse.batch);
    return *this;
  }
  SparseWork& Dense(Access access, Handle matrix) {
    const auto& dense = *static_cast<const DenseMatrix*>(matrix);
    touched_.Add(access, {dense.values, dense.by_rows ? dense.columns : dense.rows,
                          dense.by_rows ? dense.rows : dense.columns, dense.ld, dense.bits,
                          dense.batch, dense.stride});
    return *this;
  }
  SparseWork& Vector(Access access, Handle vector) {
    const auto& dense = *static_cast<const DenseVector*>(vector);
    return Elements(access, dense.values, dense.count, dense.bits);
  }
  SparseWork& Array(Access access, const SparseArray& array, std::int64_t batch = 1) {
    touched_.Add(access,
                 {array.base, array.count, 1, array.count, array.bits, batch, array.stride});
    return *this;
  }
  SparseWork& Elements(Access access, const void* base, std::int64_t count, int bits) {
    touched_.Vector(access, base, count, 1, bits);
    return *this;
  }
  SparseWork& Named(Access access, const Matrix& matrix) {
    touched_.Add(access, matrix);
    return *this;
  }

  int Enqueue(const char* name) const {
    if (handle_ == nullptr) return kSparseNotInitialized;
    const Stream stream = static_cast<Object*>(handle_)->stream;
    return sim_standin::Enqueue(stream, name, touched_) == 0 ? 0 : kSparseExecutionFailed;
  }

 private:
  Handle handle_;
  Touched touched_;
};

inline int WriteSparseWorkspace(std::size_t* bytes) {
  if (bytes == nullptr) return kSparseInvalidValue;
  *bytes = kWorkspaceBytes;
  return 0;
}

}  // namespace cuheap::sim_standin
