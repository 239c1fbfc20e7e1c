// The driver door, as far as PyTorch's expandable segments need it: physical memory and its
// mappings, reached by an entry-point look-up or as exported symbols. Which handle is mapped where
// is the core's business. The other entry points and the other ways to reach them (dlsym,
// cuGetProcAddress) are not hooked here: what comes that way is not seen.
#include "hooks/preload/call.h"
#include "hooks/preload/doors.h"
#include "hooks/preload/figures.h"

namespace cuheap::preload {
namespace {

bool Told() {
  if (inside) return false;
  Core().count_call(CUHEAP_DOOR_DRIVER);
  return true;
}

cuheap_mapping Memory(CUmemGenericAllocationHandle handle, std::uint64_t bytes,
                      const void* caller) {
  cuheap_mapping memory = {};
  memory.handle = handle;
  memory.bytes = bytes;
  memory.flags = CaptureFlag();
  memory.caller = caller;
  return memory;
}

// Physical memory of the host, or of a location this header does not know, is none of a device's.
bool IsOnDevice(const CUmemAllocationProp* properties) {
  return properties != nullptr && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         properties->location.id >= 0;
}

void Created(const CUmemGenericAllocationHandle* handle, size_t bytes,
             const CUmemAllocationProp* properties, const void* caller) {
  if (handle == nullptr || !IsOnDevice(properties)) return;
  FindDriverFigures();
  cuheap_mapping memory = Memory(*handle, bytes, caller);
  memory.device = static_cast<std::uint32_t>(properties->location.id);
  Core().physical_created(&memory);
  MemoryChanged(properties->location.id, false);
}

void CreationFailed(size_t bytes, const CUmemAllocationProp* properties, const void* caller) {
  if (!IsOnDevice(properties)) return;
  cuheap_block block = {};
  block.requested_bytes = bytes;
  block.heap = CUHEAP_HEAP_VMM;
  block.device = static_cast<std::uint32_t>(properties->location.id);
  block.caller = caller;
  Core().allocation_failed(&block);
}

}  // namespace
}  // namespace cuheap::preload

using namespace cuheap::preload;

CUHEAP_DOOR CUresult cuInit(unsigned flags) {
  const CUresult result = Forward<Name::cuInit>(CUHEAP_CALLER, flags);
  if (!inside) SafePoint();
  return result;
}

CUHEAP_DOOR CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment,
                                         CUdeviceptr hint, unsigned long long flags) {
  Told();
  return Forward<Name::cuMemAddressReserve>(CUHEAP_CALLER, address, bytes, alignment, hint, flags);
}

CUHEAP_DOOR CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  Told();
  return Forward<Name::cuMemAddressFree>(CUHEAP_CALLER, address, bytes);
}

CUHEAP_DOOR CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                                 const CUmemAllocationProp* properties, unsigned long long flags) {
  const void* caller = CUHEAP_CALLER;
  const bool told = Told();
  const CUresult result = Forward<Name::cuMemCreate>(caller, handle, bytes, properties, flags);
  if (told && result == CUDA_SUCCESS) Created(handle, bytes, properties, caller);
  if (told && result == CUDA_ERROR_OUT_OF_MEMORY) CreationFailed(bytes, properties, caller);
  return result;
}

CUHEAP_DOOR CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const bool told = Told();
  const int device = told ? DeviceOfMemory(handle) : -1;
  if (told) Core().physical_released(handle);
  const CUresult result = Forward<Name::cuMemRelease>(CUHEAP_CALLER, handle);
  if (told && result != CUDA_SUCCESS) Core().physical_release_failed(handle);
  if (told && result == CUDA_SUCCESS) MemoryChanged(device, false);
  return result;
}

CUHEAP_DOOR CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                              CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const void* caller = CUHEAP_CALLER;
  const bool told = Told();
  const CUresult result = Forward<Name::cuMemMap>(caller, address, bytes, offset, handle, flags);
  if (told && result == CUDA_SUCCESS) {
    cuheap_mapping mapping = Memory(handle, bytes, caller);
    mapping.address = address;
    Core().physical_mapped(&mapping);
  }
  return result;
}

CUHEAP_DOOR CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  const bool told = Told();
  const int device = told ? DeviceOf(reinterpret_cast<const void*>(address)) : -1;
  if (told) Core().physical_unmapped(address, bytes);
  const CUresult result = Forward<Name::cuMemUnmap>(CUHEAP_CALLER, address, bytes);
  if (told && result != CUDA_SUCCESS) Core().physical_unmap_failed(address, bytes);
  if (told && result == CUDA_SUCCESS) MemoryChanged(device, false);
  return result;
}

CUHEAP_DOOR CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                    void* shared, CUmemAllocationHandleType type) {
  const void* caller = CUHEAP_CALLER;
  const bool told = Told();
  const CUresult result =
      Forward<Name::cuMemImportFromShareableHandle>(caller, handle, shared, type);
  if (told && result == CUDA_SUCCESS && handle != nullptr) {
    cuheap_mapping memory = Memory(*handle, 0, caller);
    const int device = CurrentDevice();
    memory.device = device < 0 ? 0 : static_cast<std::uint32_t>(device);
    Core().physical_imported(&memory);
  }
  return result;
}

CUHEAP_DOOR CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                 void* address) {
  const bool told = Told();
  const CUresult result =
      Forward<Name::cuMemRetainAllocationHandle>(CUHEAP_CALLER, handle, address);
  if (told && result == CUDA_SUCCESS && handle != nullptr) Core().physical_retained(*handle);
  return result;
}
