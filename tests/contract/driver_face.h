// The face of the driver, as the typed tests use it. Functions take and give what both faces have
// in common; the order of parameters is the runtime's. All return the face's own code.
#pragma once

#include <cstddef>

#include "tests/contract/code.h"
#include "tests/contract/driver_functions.h"

namespace cuheap::contract {

template <Road kRoad>
struct DriverFace {
  static constexpr bool kIsDriver = true;
  static const DriverFunctions& F() { return Driver(kRoad); }
  static Code From(CUresult code) { return {static_cast<int>(code)}; }
  static CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
  static CUdeviceptr* Out(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

  static bool IsThere() { return true; }
  // A current context on `device`: its primary one, retained until the process ends.
  static Code UseDevice(int device) {
    CUcontext context = nullptr;
    const CUresult code = F().cuDevicePrimaryCtxRetain(&context, device);
    return code != CUDA_SUCCESS ? From(code) : From(F().cuCtxSetCurrent(context));
  }
  static Code GetDeviceCount(int* count) { return From(F().cuDeviceGetCount(count)); }
  static Code Synchronize() { return From(F().cuCtxSynchronize()); }

  static Code Malloc(void** out, std::size_t bytes) {
    return From(F().cuMemAlloc(Out(out), bytes));
  }
  static Code MallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
    return From(F().cuMemAllocPitch(Out(out), pitch, width, height, 4));
  }
  static Code MallocManaged(void** out, std::size_t bytes) {
    return From(F().cuMemAllocManaged(Out(out), bytes, CU_MEM_ATTACH_GLOBAL));
  }
  static Code Free(void* pointer) { return From(F().cuMemFree(Address(pointer))); }
  static Code MemGetInfo(std::size_t* free, std::size_t* total) {
    return From(F().cuMemGetInfo(free, total));
  }
  static Code MallocHost(void** out, std::size_t bytes) {
    return From(F().cuMemAllocHost(out, bytes));
  }
  static Code FreeHost(void* pointer) { return From(F().cuMemFreeHost(pointer)); }
  static Code HostRegister(void* pointer, std::size_t bytes) {
    return From(F().cuMemHostRegister(pointer, bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
  }
  static Code HostUnregister(void* pointer) { return From(F().cuMemHostUnregister(pointer)); }
  static Code HostGetDevicePointer(void** out, void* pointer) {
    return From(F().cuMemHostGetDevicePointer(Out(out), pointer, 0));
  }
  static Code DeviceOf(int* device, const void* pointer) {
    return From(
        F().cuPointerGetAttribute(device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, Address(pointer)));
  }

  static Code MallocAsync(void** out, std::size_t bytes, CUstream stream) {
    return From(F().cuMemAllocAsync(Out(out), bytes, stream));
  }
  static Code MallocFromPool(void** out, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
    return From(F().cuMemAllocFromPoolAsync(Out(out), bytes, pool, stream));
  }
  static Code FreeAsync(void* pointer, CUstream stream) {
    return From(F().cuMemFreeAsync(Address(pointer), stream));
  }
  static Code PoolCreate(CUmemoryPool* out, int device) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return From(F().cuMemPoolCreate(out, &properties));
  }
  static Code PoolDestroy(CUmemoryPool pool) { return From(F().cuMemPoolDestroy(pool)); }
  static Code PoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
    return From(F().cuMemPoolTrimTo(pool, bytes));
  }
  static Code PoolGet(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return From(F().cuMemPoolGetAttribute(pool, attribute, value));
  }
  static Code PoolSet(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return From(F().cuMemPoolSetAttribute(pool, attribute, value));
  }

  static Code IpcGetMemHandle(CUipcMemHandle* out, void* pointer) {
    return From(F().cuIpcGetMemHandle(out, Address(pointer)));
  }
  static Code IpcOpenMemHandle(void** out, CUipcMemHandle handle) {
    return From(F().cuIpcOpenMemHandle(Out(out), handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  }
  static Code IpcCloseMemHandle(void* pointer) {
    return From(F().cuIpcCloseMemHandle(Address(pointer)));
  }
  static Code CanAccessPeer(int* can, int device, int peer) {
    return From(F().cuDeviceCanAccessPeer(can, device, peer));
  }

  static Code Memcpy(void* to, const void* from, std::size_t bytes) {
    return From(F().cuMemcpy(Address(to), Address(from), bytes));
  }
  static Code MemcpyAsync(void* to, const void* from, std::size_t bytes, CUstream stream) {
    return From(F().cuMemcpyAsync(Address(to), Address(from), bytes, stream));
  }
  static Code MemsetAsync(void* to, int value, std::size_t bytes, CUstream stream) {
    return From(F().cuMemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes, stream));
  }

  static Code StreamCreate(CUstream* out, unsigned flags) {
    return From(F().cuStreamCreate(out, flags));
  }
  static Code StreamDestroy(CUstream stream) { return From(F().cuStreamDestroy(stream)); }
  static Code StreamSynchronize(CUstream stream) { return From(F().cuStreamSynchronize(stream)); }
  static Code StreamQuery(CUstream stream) { return From(F().cuStreamQuery(stream)); }
  static Code StreamWaitEvent(CUstream stream, CUevent event) {
    return From(F().cuStreamWaitEvent(stream, event, 0));
  }
  static Code StreamGetId(CUstream stream, unsigned long long* id) {
    return From(F().cuStreamGetId(stream, id));
  }
  static Code LaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return From(F().cuLaunchHostFunc(stream, function, data));
  }
  static Code EventCreate(CUevent* out, unsigned flags) {
    return From(F().cuEventCreate(out, flags));
  }
  static Code EventDestroy(CUevent event) { return From(F().cuEventDestroy(event)); }
  static Code EventRecord(CUevent event, CUstream stream) {
    return From(F().cuEventRecord(event, stream));
  }
  static Code EventQuery(CUevent event) { return From(F().cuEventQuery(event)); }
  static Code EventSynchronize(CUevent event) { return From(F().cuEventSynchronize(event)); }
  static Code EventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return From(F().cuEventElapsedTime(milliseconds, start, end));
  }

  static Code BeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return From(F().cuStreamBeginCapture(stream, mode));
  }
  static Code EndCapture(CUstream stream, CUgraph* out) {
    return From(F().cuStreamEndCapture(stream, out));
  }
  static Code IsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return From(F().cuStreamIsCapturing(stream, status));
  }
  static Code ExchangeCaptureMode(CUstreamCaptureMode* mode) {
    return From(F().cuThreadExchangeStreamCaptureMode(mode));
  }
  static Code GraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
    return From(F().cuGraphGetNodes(graph, nodes, count));
  }
  static Code GraphInstantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
    return From(F().cuGraphInstantiateWithFlags(out, graph, flags));
  }
  static Code GraphLaunch(CUgraphExec exec, CUstream stream) {
    return From(F().cuGraphLaunch(exec, stream));
  }
  static Code GraphExecDestroy(CUgraphExec exec) { return From(F().cuGraphExecDestroy(exec)); }
  static Code GraphDestroy(CUgraph graph) { return From(F().cuGraphDestroy(graph)); }
  static Code GraphMemory(int device, CUgraphMem_attribute attribute, void* value) {
    return From(F().cuDeviceGetGraphMemAttribute(device, attribute, value));
  }
  static Code GraphMemTrim(int device) { return From(F().cuDeviceGraphMemTrim(device)); }
};

}  // namespace cuheap::contract
