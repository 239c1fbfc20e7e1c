// cuSPARSE: sums of matrices, and the order and the format of their entries.
#include "tests/sim/standins/cusparse_matrices.h"

using namespace cuheap::sim_standin;

namespace {

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

struct Entries {
  std::int64_t count;
  const void* values;
  const int* offsets;
  const int* columns;
};

void Name(const Entries& entries, std::int64_t rows, int bits, SparseWork* work) {
  work->Elements(kRead, entries.values, entries.count, bits)
      .Elements(kRead, entries.offsets, rows + 1, kSparseIntBits)
      .Elements(kRead, entries.columns, entries.count, kSparseIntBits);
}

// How many entries the sum has only device memory says: its offsets are what is named of it.
int Add(Handle handle, const char* name, std::int64_t rows, int bits, const Entries& a,
        const Entries& b, int* offsets) {
  SparseWork work(handle);
  Name(a, rows, bits, &work);
  Name(b, rows, bits, &work);
  return work.Elements(kWrite, offsets, rows + 1, kSparseIntBits).Enqueue(name);
}

}  // namespace

#define CUHEAP_SUM(T, bits)                                                                 \
  CUHEAP_STANDIN int cusparse##T##csrgeam2_bufferSizeExt(                                   \
      Handle, int, int, const void*, Handle, int, const void*, const int*, const int*,      \
      const void*, Handle, int, const void*, const int*, const int*, Handle, const void*,   \
      const int*, const int*, std::size_t* bytes) {                                         \
    return WriteSparseWorkspace(bytes);                                                     \
  }                                                                                         \
  CUHEAP_STANDIN int cusparse##T##csrgeam2(                                                 \
      Handle handle, int rows, int, const void*, Handle, int count_a, const void* values_a, \
      const int* offsets_a, const int* columns_a, const void*, Handle, int count_b,         \
      const void* values_b, const int* offsets_b, const int* columns_b, Handle, void*,      \
      int* offsets, int*, void*) {                                                          \
    return Add(handle, "cusparse" #T "csrgeam2", rows, bits,                                \
               {count_a, values_a, offsets_a, columns_a},                                   \
               {count_b, values_b, offsets_b, columns_b}, offsets);                         \
  }
CUHEAP_SUM(S, 32)
CUHEAP_SUM(D, 64)
CUHEAP_SUM(C, 64)
CUHEAP_SUM(Z, 128)

// Which entries coincide is data, which nobody knows here: the sum has at most all of both.
CUHEAP_STANDIN int cusparseXcsrgeam2Nnz(Handle handle, int rows, int, Handle, int count_a,
                                        const int* offsets_a, const int* columns_a, Handle,
                                        int count_b, const int* offsets_b, const int* columns_b,
                                        Handle, int* offsets, int* entries, void*) {
  if (entries == nullptr) return kSparseInvalidValue;
  const int status =
      Add(handle, "cusparseXcsrgeam2Nnz", rows, 0, {count_a, nullptr, offsets_a, columns_a},
          {count_b, nullptr, offsets_b, columns_b}, offsets);
  if (status == 0) *entries = count_a + count_b;
  return status;
}

CUHEAP_STANDIN int cusparseXcoo2csr(Handle handle, const int* row_index, int entries, int rows,
                                    int* offsets, int) {
  return SparseWork(handle)
      .Elements(kRead, row_index, entries, kSparseIntBits)
      .Elements(kWrite, offsets, rows + 1, kSparseIntBits)
      .Enqueue("cusparseXcoo2csr");
}
CUHEAP_STANDIN int cusparseCreateIdentityPermutation(Handle handle, int count, int* permutation) {
  return SparseWork(handle)
      .Elements(kWrite, permutation, count, kSparseIntBits)
      .Enqueue("cusparseCreateIdentityPermutation");
}

CUHEAP_STANDIN int cusparseXcoosort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                                  std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseXcoosortByRow(Handle handle, int, int, int entries, int* rows,
                                         int* columns, int* permutation, void*) {
  return SparseWork(handle)
      .Elements(kWrite, rows, entries, kSparseIntBits)
      .Elements(kWrite, columns, entries, kSparseIntBits)
      .Elements(kWrite, permutation, entries, kSparseIntBits)
      .Enqueue("cusparseXcoosortByRow");
}
CUHEAP_STANDIN int cusparseXcsrsort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                                  std::size_t* bytes) {
  return WriteSparseWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseXcsrsort(Handle handle, int rows, int, int entries, Handle,
                                    const int* offsets, int* columns, int* permutation, void*) {
  return SparseWork(handle)
      .Elements(kRead, offsets, rows + 1, kSparseIntBits)
      .Elements(kWrite, columns, entries, kSparseIntBits)
      .Elements(kWrite, permutation, entries, kSparseIntBits)
      .Enqueue("cusparseXcsrsort");
}
