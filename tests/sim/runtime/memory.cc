// Allocation, pinned memory, pointer attributes, sharing between processes.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

// The runtime gives a null pointer for 0 bytes where the driver refuses.
template <typename Function>
cudaError_t Allocate(void** pointer, size_t size, Function&& call) {
  if (pointer == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    if (size != 0) return call(driver);
    *pointer = nullptr;
    return CUDA_SUCCESS;
  });
}

template <typename Function>
cudaError_t Free(const void* pointer, Function&& call) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    return pointer == nullptr ? CUDA_SUCCESS : call(driver);
  });
}

}  // namespace

extern "C" cudaError_t cudaMalloc(void** pointer, size_t size) {
  return Allocate(pointer, size,
                  [&](const Driver& driver) { return Call(driver.cuMemAlloc, pointer, size); });
}

extern "C" cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr unsigned int kElementBytes = 4;
  if (pointer == nullptr || pitch == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    if (width != 0 && height != 0) {
      return Call(driver.cuMemAllocPitch, pointer, pitch, width, height, kElementBytes);
    }
    *pointer = nullptr;
    *pitch = 0;
    return CUDA_SUCCESS;
  });
}

extern "C" cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  size_t rows = 0;
  if (pointer == nullptr || __builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return Record(cudaErrorInvalidValue);
  }
  cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
  const cudaError_t result = cudaMallocPitch(&made.ptr, &made.pitch, extent.width, rows);
  if (result == cudaSuccess) *pointer = made;
  return result;
}

extern "C" cudaError_t cudaFree(void* pointer) {
  return Free(pointer, [&](const Driver& driver) { return Call(driver.cuMemFree, pointer); });
}

extern "C" cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return Allocate(pointer, size, [&](const Driver& driver) {
    return driver.cuMemHostAlloc(pointer, size, flags);
  });
}

extern "C" cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return Allocate(pointer, size,
                  [&](const Driver& driver) { return driver.cuMemHostAlloc(pointer, size, 0); });
}

extern "C" cudaError_t cudaFreeHost(void* pointer) {
  return Free(pointer, [&](const Driver& driver) { return driver.cuMemFreeHost(pointer); });
}

CUHEAP_FORWARD(cudaHostRegister, cuMemHostRegister,
               (void* pointer, size_t size, unsigned int flags), pointer, size, flags)
CUHEAP_FORWARD(cudaHostUnregister, cuMemHostUnregister, (void* pointer), pointer)
CUHEAP_FORWARD(cudaHostGetDevicePointer, cuMemHostGetDevicePointer,
               (void** device, void* host, unsigned int flags), device, host, flags)
CUHEAP_FORWARD(cudaHostGetFlags, cuMemHostGetFlags, (unsigned int* flags, void* host), flags, host)
CUHEAP_FORWARD(cudaMemGetInfo, cuMemGetInfo, (size_t * available, size_t* total), available, total)

CUHEAP_FORWARD(cudaIpcGetMemHandle, cuIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void* pointer),
               handle, pointer)
CUHEAP_FORWARD(cudaIpcOpenMemHandle, cuIpcOpenMemHandle,
               (void** pointer, cudaIpcMemHandle_t handle, unsigned int flags), pointer, handle,
               flags)
CUHEAP_FORWARD(cudaIpcCloseMemHandle, cuIpcCloseMemHandle, (void* pointer), pointer)

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                const void* pointer) {
  if (attributes == nullptr) return Record(cudaErrorInvalidValue);
  unsigned int type = 0;
  unsigned int managed = 0;
  cudaPointerAttributes found{};
  found.device = cudaInvalidDeviceId;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &managed, &found.device, &found.devicePointer, &found.hostPointer};
  const cudaError_t result = InDriver([&](const Driver& driver) {
    return Call(driver.cuPointerGetAttributes, 5u, &wanted[0], &values[0], pointer);
  });
  if (result != cudaSuccess) return result;
  if (type == 0) {  // memory that the driver does not know
    *attributes = {
        cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, const_cast<void*>(pointer), {}};
    return cudaSuccess;
  }
  found.type = managed != 0                 ? cudaMemoryTypeManaged
               : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                            : cudaMemoryTypeDevice;
  // No device is current yet; unified addressing gives them all the same address.
  CUcontext current = nullptr;
  const Driver& driver = GetDriver(DefaultStream::kLegacy);
  if (driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == nullptr) {
    found.devicePointer = const_cast<void*>(pointer);
  }
  *attributes = found;
  return cudaSuccess;
}
