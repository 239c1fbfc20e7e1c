// cuSPARSE: descriptors and work space sizes.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

struct SparseMatrix {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;
};

int CreateSparse(Handle* matrix, std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  *matrix = new SparseMatrix{rows, columns, entries};
  return 0;
}

template <typename Size>
int WriteWorkspace(Size* bytes) {
  *bytes = static_cast<Size>(kWorkspaceBytes);
  return 0;
}

}  // namespace

CUHEAP_STANDIN int cusparseCreate(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cusparseDestroy(Handle handle) { return Destroy(handle); }
CUHEAP_STANDIN int cusparseSetStream(Handle handle, Stream stream) {
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
                                     std::int64_t entries, void*, void*, void*, int, int, int,
                                     int) {
  return CreateSparse(matrix, rows, columns, entries);
}
CUHEAP_STANDIN int cusparseCreateCoo(Handle* matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t entries, void*, void*, void*, int, int, int) {
  return CreateSparse(matrix, rows, columns, entries);
}
CUHEAP_STANDIN int cusparseDestroySpMat(Handle matrix) { return Destroy<SparseMatrix>(matrix); }
CUHEAP_STANDIN int cusparseSpMatGetSize(Handle matrix, std::int64_t* rows, std::int64_t* columns,
                                        std::int64_t* entries) {
  const auto& sparse = *static_cast<SparseMatrix*>(matrix);
  *rows = sparse.rows;
  *columns = sparse.columns;
  *entries = sparse.entries;
  return 0;
}
CUHEAP_STANDIN int cusparseCreateDnMat(Handle* matrix, std::int64_t, std::int64_t, std::int64_t,
                                       void*, int, int) {
  return Create(matrix);
}
CUHEAP_STANDIN int cusparseDestroyDnMat(Handle matrix) { return Destroy(matrix); }
CUHEAP_STANDIN int cusparseCreateDnVec(Handle* vector, std::int64_t, void*, int) {
  return Create(vector);
}
CUHEAP_STANDIN int cusparseDestroyDnVec(Handle vector) { return Destroy(vector); }

CUHEAP_STANDIN int cusparseSpMM_bufferSize(Handle, int, int, const void*, Handle, Handle,
                                           const void*, Handle, int, int, std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpMV_bufferSize(Handle, int, const void*, Handle, Handle, const void*,
                                           Handle, int, int, std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSDDMM_bufferSize(Handle, int, int, const void*, Handle, Handle,
                                            const void*, Handle, int, int, std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpSM_bufferSize(Handle, int, int, const void*, Handle, Handle, Handle,
                                           int, int, Handle, std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseSpSV_bufferSize(Handle, int, const void*, Handle, Handle, Handle, int,
                                           int, Handle, std::size_t* bytes) {
  return WriteWorkspace(bytes);
}

// Called twice: without a buffer for the size, then with one.
CUHEAP_STANDIN int cusparseSpGEMM_workEstimation(Handle, int, int, const void*, Handle, Handle,
                                                 const void*, Handle, int, int, Handle,
                                                 std::size_t* bytes, void* buffer) {
  return buffer == nullptr ? WriteWorkspace(bytes) : 0;
}
CUHEAP_STANDIN int cusparseSpGEMM_compute(Handle, int, int, const void*, Handle, Handle,
                                          const void*, Handle, int, int, Handle, std::size_t* bytes,
                                          void* buffer) {
  return buffer == nullptr ? WriteWorkspace(bytes) : 0;
}

#define CUHEAP_BLOCK_SPARSE(T)                                                                    \
  CUHEAP_STANDIN int cusparse##T##bsrsm2_bufferSize(Handle, int, int, int, int, int, int, Handle, \
                                                    void*, const int*, const int*, int, Handle,   \
                                                    int* bytes) {                                 \
    return WriteWorkspace(bytes);                                                                 \
  }                                                                                               \
  CUHEAP_STANDIN int cusparse##T##bsrsv2_bufferSize(Handle, int, int, int, int, Handle, void*,    \
                                                    const int*, const int*, int, Handle,          \
                                                    int* bytes) {                                 \
    return WriteWorkspace(bytes);                                                                 \
  }                                                                                               \
  CUHEAP_STANDIN int cusparse##T##csrgeam2_bufferSizeExt(                                         \
      Handle, int, int, const void*, Handle, int, const void*, const int*, const int*,            \
      const void*, Handle, int, const void*, const int*, const int*, Handle, const void*,         \
      const int*, const int*, std::size_t* bytes) {                                               \
    return WriteWorkspace(bytes);                                                                 \
  }
CUHEAP_BLOCK_SPARSE(S)
CUHEAP_BLOCK_SPARSE(D)
CUHEAP_BLOCK_SPARSE(C)
CUHEAP_BLOCK_SPARSE(Z)

// Which entries coincide is data, which nobody knows here: the sum has at most all of both.
CUHEAP_STANDIN int cusparseXcsrgeam2Nnz(Handle, int, int, Handle, int entries_a, const int*,
                                        const int*, Handle, int entries_b, const int*, const int*,
                                        Handle, int*, int* entries, void*) {
  *entries = entries_a + entries_b;
  return 0;
}
CUHEAP_STANDIN int cusparseXcoosort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                                  std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseXcsrsort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                                  std::size_t* bytes) {
  return WriteWorkspace(bytes);
}
CUHEAP_STANDIN int cusparseXbsrsm2_zeroPivot(Handle, Handle, int* position) {
  *position = -1;  // none
  return 0;
}
CUHEAP_STANDIN int cusparseXbsrsv2_zeroPivot(Handle, Handle, int* position) {
  *position = -1;
  return 0;
}
