// cuSOLVER: the generic interface, with types as arguments and work spaces in bytes, on the device
// and on the host.
#include "tests/sim/standins/cusolver_work.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kWidePivotBits = 64;

// Types of values are their own: singular values and eigenvalues are real.
SolverWork WorkOf(Handle handle, int type, void* space, std::size_t space_bytes) {
  SolverWork work(handle, BitsOfType(type));
  work.Bytes(Access::kWrite, space, space_bytes);
  return work;
}

}  // namespace

CUHEAP_STANDIN int cusolverDnXgeqrf_bufferSize(Handle, Handle, std::int64_t, std::int64_t n, int,
                                               const void*, std::int64_t, int, const void*,
                                               int type, std::size_t* device, std::size_t* host) {
  return WriteBytes(PanelElements(n), 0, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXgeqrf(Handle handle, Handle, std::int64_t m, std::int64_t n, int type,
                                    void* a, std::int64_t lda, int tau_type, void* tau, int,
                                    void* space, std::size_t space_bytes, void*, std::size_t,
                                    int* info) {
  return WorkOf(handle, type, space, space_bytes)
      .Writes(a, m, n, lda)
      .Vector(Access::kWrite, tau, std::min(m, n), BitsOfType(tau_type))
      .Solve("cusolverDnXgeqrf", info);
}

CUHEAP_STANDIN int cusolverDnXpotrf_bufferSize(Handle, Handle, int, std::int64_t n, int,
                                               const void*, std::int64_t, int type,
                                               std::size_t* device, std::size_t* host) {
  return WriteBytes(PanelElements(n), 0, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXpotrf(Handle handle, Handle, int, std::int64_t n, int type, void* a,
                                    std::int64_t lda, int, void* space, std::size_t space_bytes,
                                    void*, std::size_t, int* info) {
  return WorkOf(handle, type, space, space_bytes)
      .Writes(a, n, n, lda)
      .Solve("cusolverDnXpotrf", info);
}
CUHEAP_STANDIN int cusolverDnXpotrs(Handle handle, Handle, int, std::int64_t n,
                                    std::int64_t columns, int type, const void* a, std::int64_t lda,
                                    int, void* b, std::int64_t ldb, int* info) {
  return SolverWork(handle, BitsOfType(type))
      .Reads(a, n, n, lda)
      .Writes(b, n, columns, ldb)
      .Solve("cusolverDnXpotrs", info);
}

CUHEAP_STANDIN int cusolverDnXsyevd_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                               const void*, std::int64_t, int, const void*,
                                               int type, std::size_t* device, std::size_t* host) {
  return WriteBytes(EigenElements(n), 0, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXsyevd(Handle handle, Handle, int, int, std::int64_t n, int type,
                                    void* a, std::int64_t lda, int w_type, void* w, int,
                                    void* space, std::size_t space_bytes, void*, std::size_t,
                                    int* info) {
  return WorkOf(handle, type, space, space_bytes)
      .Writes(a, n, n, lda)
      .Vector(Access::kWrite, w, n, BitsOfType(w_type))
      .Solve("cusolverDnXsyevd", info);
}

CUHEAP_STANDIN int cusolverDnXsyevBatched_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                                     const void*, std::int64_t, int, const void*,
                                                     int type, std::size_t* device,
                                                     std::size_t* host, std::int64_t batch) {
  return WriteBytes(JacobiElements(n, n) * batch, 0, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXsyevBatched(Handle handle, Handle, int, int, std::int64_t n, int type,
                                          void* a, std::int64_t lda, int w_type, void* w, int,
                                          void* space, std::size_t space_bytes, void*, std::size_t,
                                          int* info, std::int64_t batch) {
  return WorkOf(handle, type, space, space_bytes)
      .Named(Access::kWrite, {a, n, n, lda, BitsOfType(type), batch, lda * n})
      .Vector(Access::kWrite, w, n * batch, BitsOfType(w_type))
      .Solve("cusolverDnXsyevBatched", info, batch);
}

CUHEAP_STANDIN int cusolverDnXsytrs_bufferSize(Handle, int, std::int64_t n, std::int64_t columns,
                                               int type, const void*, std::int64_t,
                                               const std::int64_t*, int, void*, std::int64_t,
                                               std::size_t* device, std::size_t* host) {
  return WriteBytes(PanelElements(n) + n * columns, 0, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXsytrs(Handle handle, int, std::int64_t n, std::int64_t columns,
                                    int type, const void* a, std::int64_t lda,
                                    const std::int64_t* pivots, int, void* b, std::int64_t ldb,
                                    void* space, std::size_t space_bytes, void*, std::size_t,
                                    int* info) {
  return WorkOf(handle, type, space, space_bytes)
      .Reads(a, n, n, lda)
      .Vector(Access::kRead, pivots, n, kWidePivotBits)
      .Writes(b, n, columns, ldb)
      .Solve("cusolverDnXsytrs", info);
}

// The QR iteration runs on the host, on a copy of the reduced matrix.
CUHEAP_STANDIN int cusolverDnXgeev_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                              const void*, std::int64_t, int, const void*, int,
                                              const void*, std::int64_t, int, const void*,
                                              std::int64_t, int type, std::size_t* device,
                                              std::size_t* host) {
  return WriteBytes(GeneralEigenElements(n), n * n, type, device, host);
}
CUHEAP_STANDIN int cusolverDnXgeev(Handle handle, Handle, int left, int right, std::int64_t n,
                                   int type, void* a, std::int64_t lda, int w_type, void* w,
                                   int vl_type, void* vl, std::int64_t ldvl, int vr_type, void* vr,
                                   std::int64_t ldvr, int, void* space, std::size_t space_bytes,
                                   void*, std::size_t, int* info) {
  return WorkOf(handle, type, space, space_bytes)
      .Writes(a, n, n, lda)
      .Vector(Access::kWrite, w, n, BitsOfType(w_type))
      .Named(Access::kWrite, {left != 0 ? vl : nullptr, n, n, ldvl, BitsOfType(vl_type)})
      .Named(Access::kWrite, {right != 0 ? vr : nullptr, n, n, ldvr, BitsOfType(vr_type)})
      .Solve("cusolverDnXgeev", info);
}
