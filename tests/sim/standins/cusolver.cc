// cuSOLVER: work space sizes, and the status word that each solver leaves on the device.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

// A panel of 64 columns for each row, which is what blocked factorisations keep.
constexpr int kPanel = 64;

int WorkElements(std::int64_t rows, std::int64_t columns) {
  return static_cast<int>((rows + columns + 1) * kPanel);
}

int WriteSizes(std::int64_t rows, std::int64_t columns, std::size_t* device_bytes,
               std::size_t* host_bytes) {
  constexpr std::size_t kLargestElement = 16;
  *device_bytes = static_cast<std::size_t>(WorkElements(rows, columns)) * kLargestElement;
  *host_bytes = 0;
  return 0;
}

int Solved(Handle handle, int* info, std::int64_t batch = 1) {
  ZeroDeviceWords(info, static_cast<std::size_t>(batch), static_cast<Object*>(handle)->stream);
  return 0;
}

}  // namespace

CUHEAP_STANDIN int cusolverDnCreate(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cusolverDnDestroy(Handle handle) { return Destroy(handle); }
CUHEAP_STANDIN int cusolverDnSetStream(Handle handle, Stream stream) {
  SetStream(handle, stream);
  return 0;
}
CUHEAP_STANDIN int cusolverDnCreateParams(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroyParams(Handle parameters) { return Destroy(parameters); }
CUHEAP_STANDIN int cusolverDnCreateGesvdjInfo(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroyGesvdjInfo(Handle parameters) { return Destroy(parameters); }
CUHEAP_STANDIN int cusolverDnCreateSyevjInfo(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroySyevjInfo(Handle parameters) { return Destroy(parameters); }

// Each family: the size of its work space, then the routine itself. P is const void* or void*.
#define CUHEAP_SOLVER(T)                                                                           \
  CUHEAP_STANDIN int cusolverDn##T##geqrf_bufferSize(Handle, int m, int n, void*, int,             \
                                                     int* work) {                                  \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##geqrf(Handle handle, int, int, void*, int, void*, void*, int,  \
                                          int* info) {                                             \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##getrf_bufferSize(Handle, int m, int n, void*, int,             \
                                                     int* work) {                                  \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##getrf(Handle handle, int, int, void*, int, void*, int*,        \
                                          int* info) {                                             \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##getrs(Handle handle, int, int, int, const void*, int,          \
                                          const int*, void*, int, int* info) {                     \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrf_bufferSize(Handle, int, int n, void*, int, int* work) {  \
    *work = WorkElements(n, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrf(Handle handle, int, int, void*, int, void*, int,         \
                                          int* info) {                                             \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrfBatched(Handle handle, int, int, void*, int, int* info,   \
                                                 int batch) {                                      \
    return Solved(handle, info, batch);                                                            \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrs(Handle handle, int, int, int, const void*, int, void*,   \
                                          int, int* info) {                                        \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##potrsBatched(Handle handle, int, int, int, void*, int, void*,  \
                                                 int, int* info, int) {                            \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##sytrf_bufferSize(Handle, int n, void*, int, int* work) {       \
    *work = WorkElements(n, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##sytrf(Handle handle, int, int, void*, int, int*, void*, int,   \
                                          int* info) {                                             \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvd_bufferSize(Handle, int m, int n, int* work) {            \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvd(Handle handle, signed char, signed char, int, int,       \
                                          void*, int, void*, void*, int, void*, int, void*, int,   \
                                          void*, int* info) {                                      \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdj_bufferSize(Handle, int, int, int m, int n, const void*, \
                                                      int, const void*, const void*, int,          \
                                                      const void*, int, int* work, Handle) {       \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdj(Handle handle, int, int, int, int, void*, int, void*,   \
                                           void*, int, void*, int, void*, int, int* info,          \
                                           Handle) {                                               \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdjBatched_bufferSize(                                      \
      Handle, int, int m, int n, const void*, int, const void*, const void*, int, const void*,     \
      int, int* work, Handle, int) {                                                               \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdjBatched(Handle handle, int, int, int, void*, int, void*, \
                                                  void*, int, void*, int, void*, int, int* info,   \
                                                  Handle, int batch) {                             \
    return Solved(handle, info, batch);                                                            \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdaStridedBatched_bufferSize(                               \
      Handle, int, int, int m, int n, const void*, int, long long, const void*, long long,         \
      const void*, int, long long, const void*, int, long long, int* work, int) {                  \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##T##gesvdaStridedBatched(                                          \
      Handle handle, int, int, int, int, const void*, int, long long, void*, long long, void*,     \
      int, long long, void*, int, long long, void*, int, int* info, double* residuals,             \
      int batch) {                                                                                 \
    if (residuals != nullptr)                                                                      \
      std::memset(residuals, 0, sizeof *residuals* static_cast<std::size_t>(batch));               \
    return Solved(handle, info, batch);                                                            \
  }
CUHEAP_SOLVER(S)
CUHEAP_SOLVER(D)
CUHEAP_SOLVER(C)
CUHEAP_SOLVER(Z)

#define CUHEAP_EIGEN_SOLVER(name)                                                                \
  CUHEAP_STANDIN int cusolverDn##name##d_bufferSize(Handle, int, int, int n, const void*, int,   \
                                                    const void*, int* work) {                    \
    *work = WorkElements(n, n);                                                                  \
    return 0;                                                                                    \
  }                                                                                              \
  CUHEAP_STANDIN int cusolverDn##name##d(Handle handle, int, int, int, void*, int, void*, void*, \
                                         int, int* info) {                                       \
    return Solved(handle, info);                                                                 \
  }                                                                                              \
  CUHEAP_STANDIN int cusolverDn##name##jBatched_bufferSize(                                      \
      Handle, int, int, int n, const void*, int, const void*, int* work, Handle, int) {          \
    *work = WorkElements(n, n);                                                                  \
    return 0;                                                                                    \
  }                                                                                              \
  CUHEAP_STANDIN int cusolverDn##name##jBatched(Handle handle, int, int, int, void*, int, void*, \
                                                void*, int, int* info, Handle, int batch) {      \
    return Solved(handle, info, batch);                                                          \
  }
CUHEAP_EIGEN_SOLVER(Ssyev)
CUHEAP_EIGEN_SOLVER(Dsyev)
CUHEAP_EIGEN_SOLVER(Cheev)
CUHEAP_EIGEN_SOLVER(Zheev)

#define CUHEAP_ORTHOGONAL(generate, multiply)                                                      \
  CUHEAP_STANDIN int cusolverDn##generate##_bufferSize(Handle, int m, int n, int, const void*,     \
                                                       int, const void*, int* work) {              \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##generate(Handle handle, int, int, int, void*, int, const void*,   \
                                          void*, int, int* info) {                                 \
    return Solved(handle, info);                                                                   \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##multiply##_bufferSize(Handle, int, int, int m, int n, int,        \
                                                       const void*, int, const void*, const void*, \
                                                       int, int* work) {                           \
    *work = WorkElements(m, n);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  CUHEAP_STANDIN int cusolverDn##multiply(Handle handle, int, int, int, int, int, const void*,     \
                                          int, const void*, void*, int, void*, int, int* info) {   \
    return Solved(handle, info);                                                                   \
  }
CUHEAP_ORTHOGONAL(Sorgqr, Sormqr)
CUHEAP_ORTHOGONAL(Dorgqr, Dormqr)
CUHEAP_ORTHOGONAL(Cungqr, Cunmqr)
CUHEAP_ORTHOGONAL(Zungqr, Zunmqr)

// The generic interface, with types as arguments.

CUHEAP_STANDIN int cusolverDnXgeqrf_bufferSize(Handle, Handle, std::int64_t m, std::int64_t n, int,
                                               const void*, std::int64_t, int, const void*, int,
                                               std::size_t* device, std::size_t* host) {
  return WriteSizes(m, n, device, host);
}
CUHEAP_STANDIN int cusolverDnXgeqrf(Handle handle, Handle, std::int64_t, std::int64_t, int, void*,
                                    std::int64_t, int, void*, int, void*, std::size_t, void*,
                                    std::size_t, int* info) {
  return Solved(handle, info);
}

CUHEAP_STANDIN int cusolverDnXpotrf_bufferSize(Handle, Handle, int, std::int64_t n, int,
                                               const void*, std::int64_t, int, std::size_t* device,
                                               std::size_t* host) {
  return WriteSizes(n, n, device, host);
}
CUHEAP_STANDIN int cusolverDnXpotrf(Handle handle, Handle, int, std::int64_t, int, void*,
                                    std::int64_t, int, void*, std::size_t, void*, std::size_t,
                                    int* info) {
  return Solved(handle, info);
}
CUHEAP_STANDIN int cusolverDnXpotrs(Handle handle, Handle, int, std::int64_t, std::int64_t, int,
                                    const void*, std::int64_t, int, void*, std::int64_t,
                                    int* info) {
  return Solved(handle, info);
}

CUHEAP_STANDIN int cusolverDnXsyevd_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                               const void*, std::int64_t, int, const void*, int,
                                               std::size_t* device, std::size_t* host) {
  return WriteSizes(n, n, device, host);
}
CUHEAP_STANDIN int cusolverDnXsyevd(Handle handle, Handle, int, int, std::int64_t, int, void*,
                                    std::int64_t, int, void*, int, void*, std::size_t, void*,
                                    std::size_t, int* info) {
  return Solved(handle, info);
}

CUHEAP_STANDIN int cusolverDnXsyevBatched_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                                     const void*, std::int64_t, int, const void*,
                                                     int, std::size_t* device, std::size_t* host,
                                                     std::int64_t) {
  return WriteSizes(n, n, device, host);
}
CUHEAP_STANDIN int cusolverDnXsyevBatched(Handle handle, Handle, int, int, std::int64_t, int, void*,
                                          std::int64_t, int, void*, int, void*, std::size_t, void*,
                                          std::size_t, int* info, std::int64_t batch) {
  return Solved(handle, info, batch);
}

CUHEAP_STANDIN int cusolverDnXsytrs_bufferSize(Handle, int, std::int64_t n, std::int64_t columns,
                                               int, const void*, std::int64_t, const std::int64_t*,
                                               int, void*, std::int64_t, std::size_t* device,
                                               std::size_t* host) {
  return WriteSizes(n, columns, device, host);
}
CUHEAP_STANDIN int cusolverDnXsytrs(Handle handle, int, std::int64_t, std::int64_t, int,
                                    const void*, std::int64_t, const std::int64_t*, int, void*,
                                    std::int64_t, void*, std::size_t, void*, std::size_t,
                                    int* info) {
  return Solved(handle, info);
}

CUHEAP_STANDIN int cusolverDnXgeev_bufferSize(Handle, Handle, int, int, std::int64_t n, int,
                                              const void*, std::int64_t, int, const void*, int,
                                              const void*, std::int64_t, int, const void*,
                                              std::int64_t, int, std::size_t* device,
                                              std::size_t* host) {
  return WriteSizes(n, n, device, host);
}
CUHEAP_STANDIN int cusolverDnXgeev(Handle handle, Handle, int, int, std::int64_t, int, void*,
                                   std::int64_t, int, void*, int, void*, std::int64_t, int, void*,
                                   std::int64_t, int, void*, std::size_t, void*, std::size_t,
                                   int* info) {
  return Solved(handle, info);
}
