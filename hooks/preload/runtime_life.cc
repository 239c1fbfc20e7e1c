// The runtime door: calls that hand out no memory but say when to look. Captures, the reset of a
// device, a first call that makes a safe point, and look-ups of driver functions by name.
#include "hooks/preload/call.h"
#include "hooks/preload/doors.h"
#include "hooks/preload/figures.h"

namespace cuheap::preload {
namespace {

constexpr unsigned kNewestVersion = ~0u;

// The look-up has answered: put ours in front of what it found.
cudaError_t LookedUp(cudaError_t result, const char* symbol, void** function, unsigned version,
                     const cudaDriverEntryPointQueryResult* status) {
  if (inside) return result;
  Core().count_call(CUHEAP_DOOR_LOOKUP);
  const bool found = result == cudaSuccess && symbol != nullptr && function != nullptr &&
                     *function != nullptr &&
                     (status == nullptr || *status == cudaDriverEntryPointSuccess);
  if (found) *function = Substitute(symbol, version, *function);
  SafePoint();
  return result;
}

cudaError_t Captured(cudaError_t result) {
  if (result == cudaSuccess && !inside) CaptureBegan();
  return result;
}

}  // namespace
}  // namespace cuheap::preload

using namespace cuheap::preload;

CUHEAP_DOOR cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t result = Forward<Name::cudaGetDeviceCount>(CUHEAP_CALLER, count);
  if (!inside) SafePoint();
  return result;
}

CUHEAP_DOOR cudaError_t cudaDeviceReset(void) {
  const int device = inside ? -1 : CurrentDevice();
  const cudaError_t result = Forward<Name::cudaDeviceReset>(CUHEAP_CALLER);
  if (device >= 0 && result == cudaSuccess) Core().device_reset(static_cast<std::uint32_t>(device));
  return result;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define CUHEAP_STREAM_DOORS(suffix)                                                               \
  CUHEAP_DOOR cudaError_t cudaStreamBeginCapture##suffix(cudaStream_t stream,                     \
                                                         cudaStreamCaptureMode mode) {            \
    return Captured(Forward<Name::cudaStreamBeginCapture##suffix>(CUHEAP_CALLER, stream, mode));  \
  }                                                                                               \
  CUHEAP_DOOR cudaError_t cudaStreamBeginCaptureToGraph##suffix(                                  \
      cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,                \
      const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode) {                 \
    return Captured(Forward<Name::cudaStreamBeginCaptureToGraph##suffix>(                         \
        CUHEAP_CALLER, stream, graph, dependencies, edges, count, mode));                         \
  }                                                                                               \
  CUHEAP_DOOR cudaError_t cudaStreamEndCapture##suffix(cudaStream_t stream, cudaGraph_t* graph) { \
    const cudaError_t result =                                                                    \
        Forward<Name::cudaStreamEndCapture##suffix>(CUHEAP_CALLER, stream, graph);                \
    /* A capture that was invalidated ends with an error, and ends; a stream that was not         \
     * capturing does not count. */                                                               \
    if (!inside && result != cudaErrorIllegalState && result != cudaErrorInvalidValue)            \
      CaptureEnded();                                                                             \
    return result;                                                                                \
  }                                                                                               \
  CUHEAP_DOOR cudaError_t cudaGetDriverEntryPoint##suffix(                                        \
      const char* symbol, void** function, unsigned long long flags,                              \
      cudaDriverEntryPointQueryResult* status) {                                                  \
    return LookedUp(Forward<Name::cudaGetDriverEntryPoint##suffix>(CUHEAP_CALLER, symbol,         \
                                                                   function, flags, status),      \
                    symbol, function, kNewestVersion, status);                                    \
  }                                                                                               \
  CUHEAP_DOOR cudaError_t cudaGetDriverEntryPointByVersion##suffix(                               \
      const char* symbol, void** function, unsigned version, unsigned long long flags,            \
      cudaDriverEntryPointQueryResult* status) {                                                  \
    return LookedUp(Forward<Name::cudaGetDriverEntryPointByVersion##suffix>(                      \
                        CUHEAP_CALLER, symbol, function, version, flags, status),                 \
                    symbol, function, version, status);                                           \
  }
CUHEAP_STREAM_DOORS()
CUHEAP_STREAM_DOORS(_ptsz)
#undef CUHEAP_STREAM_DOORS
#pragma GCC diagnostic pop
