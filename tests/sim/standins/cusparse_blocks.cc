// cuSPARSE: the older interface, for matrices of dense blocks, sums, and the order of entries.
#include "tests/sim/standins/cusparse_matrices.h"

using namespace cuheap::sim_standin;

namespace {

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

// A matrix of `rows` rows of blocks.
struct Blocks {
  std::int64_t rows;
  std::int64_t count;
  std::int64_t side;
  const void* values;
  const int* offsets;
  const int* columns;
};

SparseWork WorkOn(Handle handle, const Blocks& blocks, int bits) {
  SparseWork work(handle);
  work.Elements(kRead, blocks.values, blocks.count * blocks.side * blocks.side, bits)
      .Elements(kRead, blocks.offsets, blocks.rows + 1, kSparseIntBits)
      .Elements(kRead, blocks.columns, blocks.count, kSparseIntBits);
  return work;
}

// An operand that may be stored transposed.
Matrix Stored(int operation, const void* base, std::int64_t rows, std::int64_t columns,
              std::int64_t ld, int bits) {
  const bool plain = operation == kSparseNoTranspose;
  return {base, plain ? rows : columns, plain ? columns : rows, ld, bits};
}

int WriteIntWorkspace(int* bytes) {
  if (bytes == nullptr) return kSparseInvalidValue;
  *bytes = static_cast<int>(kWorkspaceBytes);
  return 0;
}

}  // namespace

#define CUHEAP_BLOCK_PRODUCTS(T, bits)                                                           \
  CUHEAP_STANDIN int cusparse##T##bsrmm(                                                         \
      Handle handle, int, int, int operation, int rows, int n, int block_columns, int count,     \
      const void*, Handle, const void* values, const int* offsets, const int* columns, int side, \
      const void* b, int ldb, const void*, void* c, int ldc) {                                   \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                   \
        .Named(kRead, Stored(operation, b, std::int64_t{block_columns} * side, n, ldb, bits))    \
        .Named(kWrite, {c, std::int64_t{rows} * side, n, ldc, bits})                             \
        .Enqueue("cusparse" #T "bsrmm");                                                         \
  }                                                                                              \
  CUHEAP_STANDIN int cusparse##T##bsrmv(Handle handle, int, int, int rows, int block_columns,    \
                                        int count, const void*, Handle, const void* values,      \
                                        const int* offsets, const int* columns, int side,        \
                                        const void* x, const void*, void* y) {                   \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                   \
        .Elements(kRead, x, std::int64_t{block_columns} * side, bits)                            \
        .Elements(kWrite, y, std::int64_t{rows} * side, bits)                                    \
        .Enqueue("cusparse" #T "bsrmv");                                                         \
  }
#define CUHEAP_BLOCK_SOLVERS(T, bits)                                                              \
  CUHEAP_STANDIN int cusparse##T##bsrsm2_bufferSize(Handle, int, int, int, int, int, int, Handle,  \
                                                    void*, const int*, const int*, int, Handle,    \
                                                    int* bytes) {                                  \
    return WriteIntWorkspace(bytes);                                                               \
  }                                                                                                \
  CUHEAP_STANDIN int cusparse##T##bsrsm2_analysis(                                                 \
      Handle handle, int, int, int, int rows, int, int count, Handle, const void* values,          \
      const int* offsets, const int* columns, int side, Handle, int, void*) {                      \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                     \
        .Enqueue("cusparse" #T "bsrsm2_analysis");                                                 \
  }                                                                                                \
  CUHEAP_STANDIN int cusparse##T##bsrsm2_solve(                                                    \
      Handle handle, int, int, int operation, int rows, int n, int count, const void*, Handle,     \
      const void* values, const int* offsets, const int* columns, int side, Handle, const void* b, \
      int ldb, void* x, int ldx, int, void*) {                                                     \
    const std::int64_t height = std::int64_t{rows} * side;                                         \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                     \
        .Named(kRead, Stored(operation, b, height, n, ldb, bits))                                  \
        .Named(kWrite, Stored(operation, x, height, n, ldx, bits))                                 \
        .Enqueue("cusparse" #T "bsrsm2_solve");                                                    \
  }                                                                                                \
  CUHEAP_STANDIN int cusparse##T##bsrsv2_bufferSize(Handle, int, int, int, int, Handle, void*,     \
                                                    const int*, const int*, int, Handle,           \
                                                    int* bytes) {                                  \
    return WriteIntWorkspace(bytes);                                                               \
  }                                                                                                \
  CUHEAP_STANDIN int cusparse##T##bsrsv2_analysis(                                                 \
      Handle handle, int, int, int rows, int count, Handle, const void* values,                    \
      const int* offsets, const int* columns, int side, Handle, int, void*) {                      \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                     \
        .Enqueue("cusparse" #T "bsrsv2_analysis");                                                 \
  }                                                                                                \
  CUHEAP_STANDIN int cusparse##T##bsrsv2_solve(Handle handle, int, int, int rows, int count,       \
                                               const void*, Handle, const void* values,            \
                                               const int* offsets, const int* columns, int side,   \
                                               Handle, const void* f, void* x, int, void*) {       \
    const std::int64_t height = std::int64_t{rows} * side;                                         \
    return WorkOn(handle, {rows, count, side, values, offsets, columns}, bits)                     \
        .Elements(kRead, f, height, bits)                                                          \
        .Elements(kWrite, x, height, bits)                                                         \
        .Enqueue("cusparse" #T "bsrsv2_solve");                                                    \
  }
#define CUHEAP_BLOCK_SPARSE(T, bits) CUHEAP_BLOCK_PRODUCTS(T, bits) CUHEAP_BLOCK_SOLVERS(T, bits)
CUHEAP_BLOCK_SPARSE(S, 32)
CUHEAP_BLOCK_SPARSE(D, 64)
CUHEAP_BLOCK_SPARSE(C, 64)
CUHEAP_BLOCK_SPARSE(Z, 128)

CUHEAP_STANDIN int cusparseXbsrsm2_zeroPivot(Handle, Handle, int* position) {
  *position = -1;  // none
  return 0;
}
CUHEAP_STANDIN int cusparseXbsrsv2_zeroPivot(Handle, Handle, int* position) {
  *position = -1;
  return 0;
}
