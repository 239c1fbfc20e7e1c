// cuSOLVER: singular values and eigenvalues. Values are real numbers of the precision of the
// matrix.
#include "tests/sim/standins/cusolver_work.h"

using namespace cuheap::sim_standin;

namespace {

// U of a singular value decomposition has all its m columns, or as many as there are values.
std::int64_t Columns(bool economy, int all, int values) { return economy ? values : all; }

}  // namespace

#define CUHEAP_SVD(T, bits, real_bits)                                                             \
  CUHEAP_STANDIN int cusolverDn##T##gesvd_bufferSize(Handle, int m, int n, int* work) {            \
    return WriteElements(SvdElements(m, n), work);                                                 \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvd(                                                         \
      Handle handle, signed char job_u, signed char job_v, int m, int n, void* a, int lda,         \
      void* s, void* u, int ldu, void* v, int ldv, void* work, int elements, void*, int* info) {   \
    const int values = std::min(m, n);                                                             \
    return SolverWork(handle, bits)                                                                \
        .Writes(a, m, n, lda)                                                                      \
        .Vector(Access::kWrite, s, values, real_bits)                                              \
        .Writes(job_u == 'A' || job_u == 'S' ? u : nullptr, m, Columns(job_u == 'S', m, values),   \
                ldu)                                                                               \
        .Writes(job_v == 'A' || job_v == 'S' ? v : nullptr, Columns(job_v == 'S', n, values), n,   \
                ldv)                                                                               \
        .Writes(work, elements)                                                                    \
        .Solve("cusolverDn" #T "gesvd", info);                                                     \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdj_bufferSize(Handle, int, int, int m, int n, const void*, \
                                                      int, const void*, const void*, int,          \
                                                      const void*, int, int* work, Handle) {       \
    return WriteElements(JacobiElements(m, n), work);                                              \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdj(Handle handle, int vectors, int economy, int m, int n,  \
                                           void* a, int lda, void* s, void* u, int ldu, void* v,   \
                                           int ldv, void* work, int elements, int* info, Handle) { \
    const int values = std::min(m, n);                                                             \
    return SolverWork(handle, bits)                                                                \
        .Writes(a, m, n, lda)                                                                      \
        .Vector(Access::kWrite, s, values, real_bits)                                              \
        .Writes(vectors != 0 ? u : nullptr, m, Columns(economy != 0, m, values), ldu)              \
        .Writes(vectors != 0 ? v : nullptr, n, Columns(economy != 0, n, values), ldv)              \
        .Writes(work, elements)                                                                    \
        .Solve("cusolverDn" #T "gesvdj", info);                                                    \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_SVD)

// Many small matrices, one after the other without a gap between their leading dimensions.
#define CUHEAP_SVD_BATCHED(T, bits, real_bits)                                                    \
  CUHEAP_STANDIN int cusolverDn##T##gesvdjBatched_bufferSize(                                     \
      Handle, int, int m, int n, const void*, int, const void*, const void*, int, const void*,    \
      int, int* work, Handle, int batch) {                                                        \
    return WriteElements(JacobiElements(m, n) * batch, work);                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##gesvdjBatched(                                                \
      Handle handle, int vectors, int m, int n, void* a, int lda, void* s, void* u, int ldu,      \
      void* v, int ldv, void* work, int elements, int* info, Handle, int batch) {                 \
    return SolverWork(handle, bits)                                                               \
        .Named(Access::kWrite, {a, m, n, lda, bits, batch, std::int64_t{lda} * n})                \
        .Vector(Access::kWrite, s, std::int64_t{std::min(m, n)} * batch, real_bits)               \
        .Named(Access::kWrite,                                                                    \
               {vectors != 0 ? u : nullptr, m, m, ldu, bits, batch, std::int64_t{ldu} * m})       \
        .Named(Access::kWrite,                                                                    \
               {vectors != 0 ? v : nullptr, n, n, ldv, bits, batch, std::int64_t{ldv} * n})       \
        .Writes(work, elements)                                                                   \
        .Solve("cusolverDn" #T "gesvdjBatched", info, batch);                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##gesvdaStridedBatched_bufferSize(                              \
      Handle, int, int, int m, int n, const void*, int, long long, const void*, long long,        \
      const void*, int, long long, const void*, int, long long, int* work, int batch) {           \
    return WriteElements(JacobiElements(m, n) * batch, work);                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##T##gesvdaStridedBatched(                                         \
      Handle handle, int vectors, int rank, int m, int n, const void* a, int lda, long long step, \
      void* s, long long step_s, void* u, int ldu, long long step_u, void* v, int ldv,            \
      long long step_v, void* work, int elements, int* info, double* residuals, int batch) {      \
    if (batch > 0 && residuals != nullptr)                                                        \
      std::memset(residuals, 0, sizeof *residuals* static_cast<std::size_t>(batch));              \
    return SolverWork(handle, bits)                                                               \
        .Named(Access::kRead, {a, m, n, lda, bits, batch, step})                                  \
        .Named(Access::kWrite, {s, rank, 1, rank, real_bits, batch, step_s})                      \
        .Named(Access::kWrite, {vectors != 0 ? u : nullptr, m, rank, ldu, bits, batch, step_u})   \
        .Named(Access::kWrite, {vectors != 0 ? v : nullptr, n, rank, ldv, bits, batch, step_v})   \
        .Writes(work, elements)                                                                   \
        .Solve("cusolverDn" #T "gesvdaStridedBatched", info, batch);                              \
  }
CUHEAP_SOLVER_TYPES(CUHEAP_SVD_BATCHED)

#define CUHEAP_EIGEN(name, bits, real_bits)                                                       \
  CUHEAP_STANDIN int cusolverDn##name##d_bufferSize(Handle, int, int, int n, const void*, int,    \
                                                    const void*, int* work) {                     \
    return WriteElements(EigenElements(n), work);                                                 \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##name##d(Handle handle, int, int, int n, void* a, int lda,        \
                                         void* w, void* work, int elements, int* info) {          \
    return SolverWork(handle, bits)                                                               \
        .Writes(a, n, n, lda)                                                                     \
        .Vector(Access::kWrite, w, n, real_bits)                                                  \
        .Writes(work, elements)                                                                   \
        .Solve("cusolverDn" #name "d", info);                                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##name##jBatched_bufferSize(                                       \
      Handle, int, int, int n, const void*, int, const void*, int* work, Handle, int batch) {     \
    return WriteElements(JacobiElements(n, n) * batch, work);                                     \
  }                                                                                               \
  CUHEAP_STANDIN int cusolverDn##name##jBatched(Handle handle, int, int, int n, void* a, int lda, \
                                                void* w, void* work, int elements, int* info,     \
                                                Handle, int batch) {                              \
    return SolverWork(handle, bits)                                                               \
        .Named(Access::kWrite, {a, n, n, lda, bits, batch, std::int64_t{lda} * n})                \
        .Vector(Access::kWrite, w, std::int64_t{n} * batch, real_bits)                            \
        .Writes(work, elements)                                                                   \
        .Solve("cusolverDn" #name "jBatched", info, batch);                                       \
  }
CUHEAP_EIGEN(Ssyev, 32, 32)
CUHEAP_EIGEN(Dsyev, 64, 64)
CUHEAP_EIGEN(Cheev, 64, 32)
CUHEAP_EIGEN(Zheev, 128, 64)
