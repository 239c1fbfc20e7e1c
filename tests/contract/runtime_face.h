// The face of the shared runtime, with the functions of driver_face.h.
#pragma once

#include <cstddef>

#include "tests/contract/code.h"
#include "tests/contract/driver_functions.h"
#include "tests/contract/runtime_functions.h"

namespace cuheap::contract {

struct RuntimeFace {
  static constexpr bool kIsDriver = false;
  static const RuntimeFunctions& F() { return Runtime(); }
  // A failure stays as the thread's last error until somebody takes it: here at once.
  static Code From(cudaError_t code) {
    if (code != cudaSuccess) F().cudaGetLastError();
    return {static_cast<int>(code)};
  }

  static bool IsThere() { return RuntimeIsThere(); }
  static Code UseDevice(int device) { return From(F().cudaSetDevice(device)); }
  static Code GetDeviceCount(int* count) { return From(F().cudaGetDeviceCount(count)); }
  static Code Synchronize() { return From(F().cudaDeviceSynchronize()); }

  static Code Malloc(void** out, std::size_t bytes) { return From(F().cudaMalloc(out, bytes)); }
  static Code MallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
    return From(F().cudaMallocPitch(out, pitch, width, height));
  }
  static Code MallocManaged(void** out, std::size_t bytes) {
    return From(F().cudaMallocManaged(out, bytes, cudaMemAttachGlobal));
  }
  static Code Free(void* pointer) { return From(F().cudaFree(pointer)); }
  static Code MemGetInfo(std::size_t* free, std::size_t* total) {
    return From(F().cudaMemGetInfo(free, total));
  }
  static Code MallocHost(void** out, std::size_t bytes) {
    return From(F().cudaMallocHost(out, bytes));
  }
  static Code FreeHost(void* pointer) { return From(F().cudaFreeHost(pointer)); }
  static Code HostRegister(void* pointer, std::size_t bytes) {
    return From(F().cudaHostRegister(pointer, bytes, cudaHostRegisterMapped));
  }
  static Code HostUnregister(void* pointer) { return From(F().cudaHostUnregister(pointer)); }
  static Code HostGetDevicePointer(void** out, void* pointer) {
    return From(F().cudaHostGetDevicePointer(out, pointer, 0));
  }
  static Code DeviceOf(int* device, const void* pointer) {
    cudaPointerAttributes attributes{};
    const Code code = From(F().cudaPointerGetAttributes(&attributes, pointer));
    if (code.ok()) *device = attributes.device;
    return code;
  }

  static Code MallocAsync(void** out, std::size_t bytes, CUstream stream) {
    return From(F().cudaMallocAsync(out, bytes, stream));
  }
  static Code MallocFromPool(void** out, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
    return From(F().cudaMallocFromPoolAsync(out, bytes, pool, stream));
  }
  static Code FreeAsync(void* pointer, CUstream stream) {
    return From(F().cudaFreeAsync(pointer, stream));
  }
  static Code PoolCreate(CUmemoryPool* out, int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    return From(F().cudaMemPoolCreate(out, &properties));
  }
  static Code PoolDestroy(CUmemoryPool pool) { return From(F().cudaMemPoolDestroy(pool)); }
  static Code PoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
    return From(F().cudaMemPoolTrimTo(pool, bytes));
  }
  static Code PoolGet(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return From(F().cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
  }
  static Code PoolSet(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return From(F().cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
  }

  static Code IpcGetMemHandle(CUipcMemHandle* out, void* pointer) {
    return From(F().cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(out), pointer));
  }
  static Code IpcOpenMemHandle(void** out, CUipcMemHandle handle) {
    return From(F().cudaIpcOpenMemHandle(out, reinterpret_cast<cudaIpcMemHandle_t&>(handle),
                                         cudaIpcMemLazyEnablePeerAccess));
  }
  static Code IpcCloseMemHandle(void* pointer) { return From(F().cudaIpcCloseMemHandle(pointer)); }
  static Code CanAccessPeer(int* can, int device, int peer) {
    return From(F().cudaDeviceCanAccessPeer(can, device, peer));
  }

  static Code Memcpy(void* to, const void* from, std::size_t bytes) {
    return From(F().cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  }
  static Code MemcpyAsync(void* to, const void* from, std::size_t bytes, CUstream stream) {
    return From(F().cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  static Code MemsetAsync(void* to, int value, std::size_t bytes, CUstream stream) {
    return From(F().cudaMemsetAsync(to, value, bytes, stream));
  }

  static Code StreamCreate(CUstream* out, unsigned flags) {
    return From(F().cudaStreamCreateWithFlags(out, flags));
  }
  static Code StreamDestroy(CUstream stream) { return From(F().cudaStreamDestroy(stream)); }
  static Code StreamSynchronize(CUstream stream) { return From(F().cudaStreamSynchronize(stream)); }
  static Code StreamQuery(CUstream stream) { return From(F().cudaStreamQuery(stream)); }
  static Code StreamWaitEvent(CUstream stream, CUevent event) {
    return From(F().cudaStreamWaitEvent(stream, event, 0));
  }
  static Code StreamGetId(CUstream stream, unsigned long long* id) {
    return From(F().cudaStreamGetId(stream, id));
  }
  static Code LaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return From(F().cudaLaunchHostFunc(stream, function, data));
  }
  static Code EventCreate(CUevent* out, unsigned flags) {
    return From(F().cudaEventCreateWithFlags(out, flags));
  }
  static Code EventDestroy(CUevent event) { return From(F().cudaEventDestroy(event)); }
  static Code EventRecord(CUevent event, CUstream stream) {
    return From(F().cudaEventRecord(event, stream));
  }
  static Code EventQuery(CUevent event) { return From(F().cudaEventQuery(event)); }
  static Code EventSynchronize(CUevent event) { return From(F().cudaEventSynchronize(event)); }
  static Code EventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return From(F().cudaEventElapsedTime(milliseconds, start, end));
  }

  static Code BeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return From(F().cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)));
  }
  static Code EndCapture(CUstream stream, CUgraph* out) {
    return From(F().cudaStreamEndCapture(stream, out));
  }
  static Code IsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return From(
        F().cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)));
  }
  static Code ExchangeCaptureMode(CUstreamCaptureMode* mode) {
    return From(
        F().cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)));
  }
  static Code GraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
    return From(F().cudaGraphGetNodes(graph, nodes, count));
  }
  static Code GraphInstantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
    return From(F().cudaGraphInstantiate(out, graph, flags));
  }
  static Code GraphLaunch(CUgraphExec exec, CUstream stream) {
    return From(F().cudaGraphLaunch(exec, stream));
  }
  static Code GraphExecDestroy(CUgraphExec exec) { return From(F().cudaGraphExecDestroy(exec)); }
  static Code GraphDestroy(CUgraph graph) { return From(F().cudaGraphDestroy(graph)); }
  static Code GraphMemory(int device, CUgraphMem_attribute attribute, void* value) {
    return From(F().cudaDeviceGetGraphMemAttribute(
        device, static_cast<cudaGraphMemAttributeType>(attribute), value));
  }
  static Code GraphMemTrim(int device) { return From(F().cudaDeviceGraphMemTrim(device)); }
};

}  // namespace cuheap::contract
