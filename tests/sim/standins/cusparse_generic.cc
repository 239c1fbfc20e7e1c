// cuSPARSE: the generic interface: products and triangular solvers of described matrices.
#include <algorithm>

#include "tests/sim/standins/cusparse_matrices.h"

using namespace cuheap::sim_standin;

namespace {

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

// Which entries meet is data, which nobody knows here: as many as meet on average, and no more than
// there are places.
std::int64_t EstimatedEntries(const SparseMatrix& a, const SparseMatrix& b) {
  const std::int64_t rows = std::max<std::int64_t>(1, b.rows);
  const std::int64_t in_a_row = (b.entries + rows - 1) / rows;
  return std::min(a.entries * in_a_row, a.rows * b.columns);
}

}  // namespace

CUHEAP_STANDIN int cusparseSpMM_bufferSize(Handle, int, int, const void*, Handle, Handle,
                                           const void*, Handle, int, int, std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpMM(Handle handle, int, int, const void*, Handle a, Handle b,
                                const void*, Handle c, int, int, void*) {
  return SparseWork(handle).Sparse(kRead, a).Dense(kRead, b).Dense(kWrite, c).Enqueue(
      "cusparseSpMM");
}

CUHEAP_STANDIN int cusparseSpMV_bufferSize(Handle, int, const void*, Handle, Handle, const void*,
                                           Handle, int, int, std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpMV(Handle handle, int, const void*, Handle a, Handle x, const void*,
                                Handle y, int, int, void*) {
  return SparseWork(handle).Sparse(kRead, a).Vector(kRead, x).Vector(kWrite, y).Enqueue(
      "cusparseSpMV");
}

CUHEAP_STANDIN int cusparseSDDMM_bufferSize(Handle, int, int, const void*, Handle, Handle,
                                            const void*, Handle, int, int, std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSDDMM(Handle handle, int, int, const void*, Handle a, Handle b,
                                 const void*, Handle c, int, int, void*) {
  return SparseWork(handle).Dense(kRead, a).Dense(kRead, b).Sparse(kWrite, c).Enqueue(
      "cusparseSDDMM");
}

// The analysis of a triangular matrix reads it; the solver does so again.
CUHEAP_STANDIN int cusparseSpSM_bufferSize(Handle, int, int, const void*, Handle, Handle, Handle,
                                           int, int, Handle, std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpSM_analysis(Handle handle, int, int, const void*, Handle a, Handle,
                                         Handle, int, int, Handle, void*) {
  return SparseWork(handle).Sparse(kRead, a).Enqueue("cusparseSpSM_analysis");
}
CUHEAP_STANDIN int cusparseSpSM_solve(Handle handle, int, int, const void*, Handle a, Handle b,
                                      Handle c, int, int, Handle) {
  return SparseWork(handle).Sparse(kRead, a).Dense(kRead, b).Dense(kWrite, c).Enqueue(
      "cusparseSpSM_solve");
}
CUHEAP_STANDIN int cusparseSpSV_bufferSize(Handle, int, const void*, Handle, Handle, Handle, int,
                                           int, Handle, std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpSV_analysis(Handle handle, int, const void*, Handle a, Handle, Handle,
                                         int, int, Handle, void*) {
  return SparseWork(handle).Sparse(kRead, a).Enqueue("cusparseSpSV_analysis");
}
CUHEAP_STANDIN int cusparseSpSV_solve(Handle handle, int, const void*, Handle a, Handle x, Handle y,
                                      int, int, Handle) {
  return SparseWork(handle).Sparse(kRead, a).Vector(kRead, x).Vector(kWrite, y).Enqueue(
      "cusparseSpSV_solve");
}

// Each of the two steps is called twice: without a buffer for its size, then with one. After the
// second the result knows how many entries it has.
CUHEAP_STANDIN int cusparseSpGEMM_workEstimation(Handle handle, int, int, const void*, Handle a,
                                                 Handle b, const void*, Handle, int, int, Handle,
                                                 std::size_t* bytes, void* buffer) {
  if (buffer == nullptr) return WriteSparseWorkspace(bytes);
  return SparseWork(handle).Sparse(kRead, a).Sparse(kRead, b).Enqueue(
      "cusparseSpGEMM_workEstimation");
}
CUHEAP_STANDIN int cusparseSpGEMM_compute(Handle handle, int, int, const void*, Handle a, Handle b,
                                          const void*, Handle c, int, int, Handle,
                                          std::size_t* bytes, void* buffer) {
  if (buffer == nullptr) return WriteSparseWorkspace(bytes);
  static_cast<SparseMatrix*>(c)->entries =
      EstimatedEntries(*static_cast<SparseMatrix*>(a), *static_cast<SparseMatrix*>(b));
  return SparseWork(handle).Sparse(kRead, a).Sparse(kRead, b).Enqueue("cusparseSpGEMM_compute");
}
CUHEAP_STANDIN int cusparseSpGEMM_copy(Handle handle, int, int, const void*, Handle, Handle,
                                       const void*, Handle c, int, int, Handle) {
  const auto& sparse = *static_cast<SparseMatrix*>(c);
  return SparseWork(handle)
      .Array(kWrite, sparse.row_index)
      .Array(kWrite, sparse.column_index)
      .Array(kWrite, sparse.values)
      .Enqueue("cusparseSpGEMM_copy");
}
