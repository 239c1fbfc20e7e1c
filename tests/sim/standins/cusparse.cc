// cuSPARSE: handles, descriptors, matrices and vectors.
#include "tests/sim/standins/cusparse_matrices.h"

using namespace cuheap::sim_standin;

namespace {

// cusparseIndexType_t: 16, 32 and 64 bits from 1 on.
int BitsOfIndex(int type) { return type >= 1 && type <= 3 ? 8 << type : 0; }

constexpr int kByRows = 2;  // CUSPARSE_ORDER_ROW

}  // namespace

CUHEAP_STANDIN int cusparseCreate(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cusparseDestroy(Handle handle) { return Destroy(handle); }
CUHEAP_STANDIN int cusparseSetStream(Handle handle, Stream stream) {
  if (handle == nullptr) return kSparseNotInitialized;
  SetStream(handle, stream);
  return 0;
}
CUHEAP_STANDIN const char* cusparseGetErrorString(int status) {
  return status == 0 ? "success" : "refused by the simulated device's stand-in";
}

CUHEAP_STANDIN int cusparseCreateMatDescr(Handle* description) { return Create(description); }
CUHEAP_STANDIN int cusparseDestroyMatDescr(Handle description) { return Destroy(description); }
CUHEAP_STANDIN int cusparseCreateBsrsm2Info(Handle* info) { return Create(info); }
CUHEAP_STANDIN int cusparseDestroyBsrsm2Info(Handle info) { return Destroy(info); }
CUHEAP_STANDIN int cusparseCreateBsrsv2Info(Handle* info) { return Create(info); }
CUHEAP_STANDIN int cusparseDestroyBsrsv2Info(Handle info) { return Destroy(info); }
CUHEAP_STANDIN int cusparseSpGEMM_createDescr(Handle* description) { return Create(description); }
CUHEAP_STANDIN int cusparseSpGEMM_destroyDescr(Handle description) { return Destroy(description); }
CUHEAP_STANDIN int cusparseSpSM_createDescr(Handle* description) { return Create(description); }
CUHEAP_STANDIN int cusparseSpSM_destroyDescr(Handle description) { return Destroy(description); }
CUHEAP_STANDIN int cusparseSpSV_createDescr(Handle* description) { return Create(description); }
CUHEAP_STANDIN int cusparseSpSV_destroyDescr(Handle description) { return Destroy(description); }

CUHEAP_STANDIN int cusparseCreateCsr(Handle* matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t entries, void* offsets, void* column_index,
                                     void* values, int offset_type, int column_type, int,
                                     int value_type) {
  *matrix = new SparseMatrix{rows,
                             columns,
                             entries,
                             1,
                             {offsets, rows + 1, BitsOfIndex(offset_type)},
                             {column_index, entries, BitsOfIndex(column_type)},
                             {values, entries, BitsOfType(value_type)}};
  return 0;
}
CUHEAP_STANDIN int cusparseCreateCoo(Handle* matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t entries, void* row_index, void* column_index,
                                     void* values, int index_type, int, int value_type) {
  *matrix = new SparseMatrix{rows,
                             columns,
                             entries,
                             1,
                             {row_index, entries, BitsOfIndex(index_type)},
                             {column_index, entries, BitsOfIndex(index_type)},
                             {values, entries, BitsOfType(value_type)}};
  return 0;
}
CUHEAP_STANDIN int cusparseDestroySpMat(Handle matrix) { return Destroy<SparseMatrix>(matrix); }

// The arrays of a product are known after its size.
CUHEAP_STANDIN int cusparseCsrSetPointers(Handle matrix, void* offsets, void* columns,
                                          void* values) {
  auto& sparse = *static_cast<SparseMatrix*>(matrix);
  sparse.row_index.base = offsets;
  sparse.column_index.base = columns;
  sparse.values.base = values;
  sparse.column_index.count = sparse.values.count = sparse.entries;
  return 0;
}
CUHEAP_STANDIN int cusparseCsrSetStridedBatch(Handle matrix, int batch, std::int64_t offset_stride,
                                              std::int64_t entry_stride) {
  auto& sparse = *static_cast<SparseMatrix*>(matrix);
  sparse.batch = batch;
  sparse.row_index.stride = offset_stride;
  sparse.column_index.stride = sparse.values.stride = entry_stride;
  return 0;
}
CUHEAP_STANDIN int cusparseSpMatGetSize(Handle matrix, std::int64_t* rows, std::int64_t* columns,
                                        std::int64_t* entries) {
  const auto& sparse = *static_cast<SparseMatrix*>(matrix);
  *rows = sparse.rows;
  *columns = sparse.columns;
  *entries = sparse.entries;
  return 0;
}

CUHEAP_STANDIN int cusparseCreateDnMat(Handle* matrix, std::int64_t rows, std::int64_t columns,
                                       std::int64_t ld, void* values, int type, int order) {
  *matrix = new DenseMatrix{rows, columns, ld, values, BitsOfType(type), order == kByRows};
  return 0;
}
CUHEAP_STANDIN int cusparseDnMatSetStridedBatch(Handle matrix, int batch, std::int64_t stride) {
  static_cast<DenseMatrix*>(matrix)->batch = batch;
  static_cast<DenseMatrix*>(matrix)->stride = stride;
  return 0;
}
CUHEAP_STANDIN int cusparseDestroyDnMat(Handle matrix) { return Destroy<DenseMatrix>(matrix); }
CUHEAP_STANDIN int cusparseCreateDnVec(Handle* vector, std::int64_t count, void* values, int type) {
  *vector = new DenseVector{count, values, BitsOfType(type)};
  return 0;
}
CUHEAP_STANDIN int cusparseDestroyDnVec(Handle vector) { return Destroy<DenseVector>(vector); }
