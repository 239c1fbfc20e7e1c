// Linear, managed and pinned memory.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/host_memory.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

CUresult PrepareAllocation(Context** context) {
  CUHEAP_SIM_TRY(CurrentContext(context));
  return CheckUnsafeCall();
}

// Memory that goes away at once waits for the work of its device. That of a pool does not: the
// caller has to.
void WaitForUsersOf(std::uintptr_t address) {
  int device = -1;
  {
    const EngineLock lock;
    const Allocation* block = FindAllocation(address);
    if (block != nullptr && block->pool == nullptr) device = block->device;
  }
  if (device >= 0) WaitForDevice(device);
}

std::uintptr_t AddressOf(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

CUresult face::MemGetInfo_v2(size_t* free, size_t* total) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  WriteIfAsked(free, FreeBytes(context->device));
  WriteIfAsked(total, DeviceCapacity(context->device));
  return CUDA_SUCCESS;
}

CUresult face::MemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareAllocation(&context));
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(AllocateLinear(context, bytes, &address));
  *out = address;
  return CUDA_SUCCESS;
}

CUresult face::MemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                                unsigned element) {
  CUHEAP_SIM_TRY(NeedPointers(out, pitch));
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  const size_t row = (width + 511) / 512 * 512;
  int most = 0;  // a pitch that copies take
  CUHEAP_SIM_TRY(DeviceAttribute(0, CU_DEVICE_ATTRIBUTE_MAX_PITCH, &most));
  const bool too_wide = row < width || row > static_cast<size_t>(most);
  if (too_wide || (height != 0 && row > SIZE_MAX / height)) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(MemAlloc_v2(out, row * height));
  *pitch = row;
  return CUDA_SUCCESS;
}

CUresult face::MemFree_v2(CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedContext());
  if (address == 0) return CUDA_SUCCESS;
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  WaitForUsersOf(address);
  return FreeDevice(address);
}

CUresult face::MemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
  WriteIfAsked(base, block->base);
  WriteIfAsked(bytes, block->bytes);
  return CUDA_SUCCESS;
}

CUresult face::MemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareAllocation(&context));
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(AllocateManaged(context, bytes, flags, &address));
  *out = address;
  return CUDA_SUCCESS;
}

CUresult face::MemAllocHost_v2(void** out, size_t bytes) { return MemHostAlloc(out, bytes, 0); }

CUresult face::MemHostAlloc(void** out, size_t bytes, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareAllocation(&context));
  void* memory = nullptr;
  CUHEAP_SIM_TRY(AllocateHost(context, bytes, flags, &memory));
  *out = memory;
  return CUDA_SUCCESS;
}

CUresult face::MemFreeHost(void* memory) {
  CUHEAP_SIM_TRY(NeedContext());
  if (memory == nullptr) return CUDA_SUCCESS;
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  WaitForUsersOf(AddressOf(memory));
  return FreeHost(AddressOf(memory));
}

CUresult face::MemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareAllocation(&context));
  return RegisterHost(context, AddressOf(memory), bytes, flags);
}

CUresult face::MemHostUnregister(void* memory) {
  CUHEAP_SIM_TRY(NeedPointers(memory));
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  WaitForUsersOf(AddressOf(memory));
  return UnregisterHost(AddressOf(memory));
}

CUresult face::MemHostGetDevicePointer_v2(CUdeviceptr* out, void* memory, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  const Allocation* block = FindAllocation(AddressOf(memory));
  const bool pinned = block != nullptr && (block->type == AllocationType::kHost ||
                                           block->type == AllocationType::kRegistered);
  if (!pinned || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *out = DeviceAddressIn(*block, AddressOf(memory));
  return CUDA_SUCCESS;
}

CUresult face::MemHostGetFlags(unsigned* flags, void* memory) {
  CUHEAP_SIM_TRY(NeedPointers(flags));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  const Allocation* block = FindAllocation(AddressOf(memory));
  if (block == nullptr || block->type != AllocationType::kHost) return CUDA_ERROR_INVALID_VALUE;
  *flags = block->flags;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
