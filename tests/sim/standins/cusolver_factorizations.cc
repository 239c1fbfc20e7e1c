// cuSOLVER: factorisations (LU, Cholesky, QR, LDL) and what solves with them. Each family: the size
// of its work space in elements, then the routine.
#include "tests/sim/standins/cusolver_work.h"

using namespace cuheap::sim_standin;

#define CUHEAP_LU(T, bits, real_bits)                                                             \
  CUHEAP_STANDIN int cusolverDn##T##getrf_bufferSize(Handle, int, int n, void*, int, int* work) { \
    return WriteElements(PanelElements(n), work);                                                 \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##getrf(Handle handle, int m, int n, void* a, int lda,          \
                                          void* work, int* pivots, int* info) {                   \
    return SolverWork(handle, bits)                                                               \
        .Writes(a, m, n, lda)                                                                     \
        .Writes(work, PanelElements(n))                                                           \
        .Vector(Access::kWrite, pivots, std::min(m, n), kPivotBits)                               \
        .Solve("cusolverDn" #T "getrf", info);                                                    \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##getrs(Handle handle, int, int n, int columns, const void* a,  \
                                          int lda, const int* pivots, void* b, int ldb,           \
                                          int* info) {                                            \
    return SolverWork(handle, bits)                                                               \
        .Reads(a, n, n, lda)                                                                      \
        .Vector(Access::kRead, pivots, n, kPivotBits)                                             \
        .Writes(b, n, columns, ldb)                                                               \
        .Solve("cusolverDn" #T "getrs", info);                                                    \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_LU)

// Where the matrices of a batch lie only device memory says: the arrays of pointers are named.
#define CUHEAP_CHOLESKY(T, bits, real_bits)                                                        \
  CUHEAP_STANDIN int cusolverDn##T##potrf_bufferSize(Handle, int, int n, void*, int, int* work) {  \
    return WriteElements(PanelElements(n), work);                                                  \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrf(Handle handle, int, int n, void* a, int lda, void* work, \
                                          int elements, int* info) {                               \
    return SolverWork(handle, bits)                                                                \
        .Writes(a, n, n, lda)                                                                      \
        .Writes(work, elements)                                                                    \
        .Solve("cusolverDn" #T "potrf", info);                                                     \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrs(Handle handle, int, int n, int columns, const void* a,   \
                                          int lda, void* b, int ldb, int* info) {                  \
    return SolverWork(handle, bits)                                                                \
        .Reads(a, n, n, lda)                                                                       \
        .Writes(b, n, columns, ldb)                                                                \
        .Solve("cusolverDn" #T "potrs", info);                                                     \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrfBatched(Handle handle, int, int, void* const* a, int,     \
                                                 int* info, int batch) {                           \
    return SolverWork(handle, bits)                                                                \
        .Vector(Access::kRead, a, batch, 8 * sizeof(void*))                                        \
        .Solve("cusolverDn" #T "potrfBatched", info, batch);                                       \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrsBatched(Handle handle, int, int, int, void* const* a,     \
                                                 int, void* const* b, int, int* info, int batch) { \
    return SolverWork(handle, bits)                                                                \
        .Vector(Access::kRead, a, batch, 8 * sizeof(void*))                                        \
        .Vector(Access::kRead, b, batch, 8 * sizeof(void*))                                        \
        .Solve("cusolverDn" #T "potrsBatched", info);                                              \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_CHOLESKY)

#define CUHEAP_QR(T, bits, real_bits)                                                             \
  CUHEAP_STANDIN int cusolverDn##T##geqrf_bufferSize(Handle, int, int n, void*, int, int* work) { \
    return WriteElements(PanelElements(n), work);                                                 \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##geqrf(Handle handle, int m, int n, void* a, int lda,          \
                                          void* tau, void* work, int elements, int* info) {       \
    return SolverWork(handle, bits)                                                               \
        .Writes(a, m, n, lda)                                                                     \
        .Writes(tau, std::min(m, n))                                                              \
        .Writes(work, elements)                                                                   \
        .Solve("cusolverDn" #T "geqrf", info);                                                    \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_QR)

#define CUHEAP_LDL(T, bits, real_bits)                                                        \
  CUHEAP_STANDIN int cusolverDn##T##sytrf_bufferSize(Handle, int n, void*, int, int* work) {  \
    return WriteElements(PanelElements(n), work);                                             \
  }                                                                                           \
  CUHEAP_STANDIN int cusolverDn##T##sytrf(Handle handle, int, int n, void* a, int lda,        \
                                          int* pivots, void* work, int elements, int* info) { \
    return SolverWork(handle, bits)                                                           \
        .Writes(a, n, n, lda)                                                                 \
        .Vector(Access::kWrite, pivots, n, kPivotBits)                                        \
        .Writes(work, elements)                                                               \
        .Solve("cusolverDn" #T "sytrf", info);                                                \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_LDL)

// The orthogonal factor of QR: made (m x n of k reflectors), and multiplied by C (m x n).
#define CUHEAP_ORTHOGONAL(generate, multiply, bits)                                                \
  CUHEAP_STANDIN int cusolverDn##generate##_bufferSize(Handle, int, int n, int, const void*, int,  \
                                                       const void*, int* work) {                   \
    return WriteElements(PanelElements(n), work);                                                  \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##generate(Handle handle, int m, int n, int k, void* a, int lda,    \
                                          const void* tau, void* work, int elements, int* info) {  \
    return SolverWork(handle, bits)                                                                \
        .Writes(a, m, n, lda)                                                                      \
        .Reads(tau, k)                                                                             \
        .Writes(work, elements)                                                                    \
        .Solve("cusolverDn" #generate, info);                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##multiply##_bufferSize(Handle, int left, int, int m, int n, int,   \
                                                       const void*, int, const void*, const void*, \
                                                       int, int* work) {                           \
    return WriteElements(PanelElements(left == 0 ? n : m), work);                                  \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##multiply(Handle handle, int left, int, int m, int n, int k,       \
                                          const void* a, int lda, const void* tau, void* c,        \
                                          int ldc, void* work, int elements, int* info) {          \
    return SolverWork(handle, bits)                                                                \
        .Reads(a, left == 0 ? m : n, k, lda)                                                       \
        .Reads(tau, k)                                                                             \
        .Writes(c, m, n, ldc)                                                                      \
        .Writes(work, elements)                                                                    \
        .Solve("cusolverDn" #multiply, info);                                                      \
  }
CUHEAP_ORTHOGONAL(Sorgqr, Sormqr, 32)
CUHEAP_ORTHOGONAL(Dorgqr, Dormqr, 64)
CUHEAP_ORTHOGONAL(Cungqr, Cunmqr, 64)
CUHEAP_ORTHOGONAL(Zungqr, Zunmqr, 128)
