// Streams, events and the capture of streams.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return InContext(DefaultStream::kLegacy,
                   [&](const Driver& driver) { return driver.cuStreamCreate(stream, flags); });
}

extern "C" cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

CUHEAP_FORWARD(cudaStreamCreateWithPriority, cuStreamCreateWithPriority,
               (cudaStream_t * stream, unsigned int flags, int priority), stream, flags, priority)
CUHEAP_FORWARD(cudaStreamDestroy, cuStreamDestroy, (cudaStream_t stream), stream)
CUHEAP_FORWARD_STREAM(cudaStreamGetPriority, _ptsz, cuStreamGetPriority,
                      (cudaStream_t stream, int* priority), stream, priority)
CUHEAP_FORWARD_STREAM(cudaStreamGetFlags, _ptsz, cuStreamGetFlags,
                      (cudaStream_t stream, unsigned int* flags), stream, flags)
CUHEAP_FORWARD_STREAM(cudaStreamGetId, _ptsz, cuStreamGetId,
                      (cudaStream_t stream, unsigned long long* id), stream, id)
CUHEAP_FORWARD_STREAM(cudaStreamGetDevice, _ptsz, cuStreamGetDevice,
                      (cudaStream_t stream, int* device), stream, device)
CUHEAP_FORWARD_STREAM(cudaStreamQuery, _ptsz, cuStreamQuery, (cudaStream_t stream), stream)
CUHEAP_FORWARD_STREAM(cudaStreamSynchronize, _ptsz, cuStreamSynchronize, (cudaStream_t stream),
                      stream)
CUHEAP_FORWARD_STREAM(cudaStreamWaitEvent, _ptsz, cuStreamWaitEvent,
                      (cudaStream_t stream, cudaEvent_t event, unsigned int flags), stream, event,
                      flags)
CUHEAP_FORWARD_STREAM(cudaStreamAddCallback, _ptsz, cuStreamAddCallback,
                      (cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                       unsigned int flags),
                      stream, callback, data, flags)
CUHEAP_FORWARD_STREAM(cudaStreamAttachMemAsync, _ptsz, cuStreamAttachMemAsync,
                      (cudaStream_t stream, void* pointer, size_t length, unsigned int flags),
                      stream, pointer, length, flags)
CUHEAP_FORWARD_STREAM(cudaStreamCopyAttributes, _ptsz, cuStreamCopyAttributes,
                      (cudaStream_t target, cudaStream_t source), target, source)
CUHEAP_FORWARD_STREAM(cudaStreamGetAttribute, _ptsz, cuStreamGetAttribute,
                      (cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value),
                      stream, attribute, value)
CUHEAP_FORWARD_STREAM(cudaStreamSetAttribute, _ptsz, cuStreamSetAttribute,
                      (cudaStream_t stream, cudaStreamAttrID attribute,
                       const cudaStreamAttrValue* value),
                      stream, attribute, value)
CUHEAP_FORWARD_STREAM(cudaLaunchHostFunc, _ptsz, cuLaunchHostFunc,
                      (cudaStream_t stream, cudaHostFn_t function, void* data), stream, function,
                      data)

extern "C" cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return InContext(DefaultStream::kLegacy,
                   [&](const Driver& driver) { return driver.cuEventCreate(event, flags); });
}

extern "C" cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

CUHEAP_FORWARD_STREAM(cudaEventRecord, _ptsz, cuEventRecord,
                      (cudaEvent_t event, cudaStream_t stream), event, stream)
CUHEAP_FORWARD_STREAM(cudaEventRecordWithFlags, _ptsz, cuEventRecordWithFlags,
                      (cudaEvent_t event, cudaStream_t stream, unsigned int flags), event, stream,
                      flags)
CUHEAP_FORWARD(cudaEventQuery, cuEventQuery, (cudaEvent_t event), event)
CUHEAP_FORWARD(cudaEventSynchronize, cuEventSynchronize, (cudaEvent_t event), event)
CUHEAP_FORWARD(cudaEventDestroy, cuEventDestroy, (cudaEvent_t event), event)
CUHEAP_FORWARD(cudaEventElapsedTime, cuEventElapsedTime,
               (float* milliseconds, cudaEvent_t start, cudaEvent_t end), milliseconds, start, end)
CUHEAP_FORWARD(cudaIpcGetEventHandle, cuIpcGetEventHandle,
               (cudaIpcEventHandle_t * handle, cudaEvent_t event), handle, event)
CUHEAP_FORWARD(cudaIpcOpenEventHandle, cuIpcOpenEventHandle,
               (cudaEvent_t * event, cudaIpcEventHandle_t handle), event, handle)

CUHEAP_FORWARD_STREAM(cudaStreamBeginCapture, _ptsz, cuStreamBeginCapture,
                      (cudaStream_t stream, cudaStreamCaptureMode mode), stream, mode)
CUHEAP_FORWARD_STREAM(cudaStreamBeginCaptureToGraph, _ptsz, cuStreamBeginCaptureToGraph,
                      (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                       const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode),
                      stream, graph, dependencies, edges, count, mode)
CUHEAP_FORWARD_STREAM(cudaStreamEndCapture, _ptsz, cuStreamEndCapture,
                      (cudaStream_t stream, cudaGraph_t* graph), stream, graph)
CUHEAP_FORWARD_STREAM(cudaStreamIsCapturing, _ptsz, cuStreamIsCapturing,
                      (cudaStream_t stream, cudaStreamCaptureStatus* status), stream, status)
CUHEAP_FORWARD_STREAM(cudaStreamGetCaptureInfo, _ptsz, cuStreamGetCaptureInfo,
                      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                       cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                       const cudaGraphEdgeData** edges, size_t* count),
                      stream, status, id, graph, dependencies, edges, count)
CUHEAP_FORWARD_STREAM(cudaStreamUpdateCaptureDependencies, _ptsz, cuStreamUpdateCaptureDependencies,
                      (cudaStream_t stream, cudaGraphNode_t* dependencies,
                       const cudaGraphEdgeData* edges, size_t count, unsigned int flags),
                      stream, dependencies, edges, count, flags)
CUHEAP_FORWARD(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,
               (cudaStreamCaptureMode * mode), mode)
