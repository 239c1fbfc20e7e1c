// Multicast objects.
#include "tests/sim/driver/multicast.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/multicast.h"
#include "tests/sim/engine/multicast_sharing.h"
#include "tests/sim/engine/virtual_memory.h"

namespace cuheap::sim {
namespace {

CUresult ObjectOf(CUmemGenericAllocationHandle value, MulticastObject** out) {
  const MulticastHandle* handle = FindMulticast(value);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = handle->object.get();
  return CUDA_SUCCESS;
}

// Memory of cuMemCreate or of a pool, where it is mapped.
CUresult MemoryAt(CUdeviceptr address, std::uint64_t bytes, BindableMemory* out) {
  const Allocation* block = FindAllocation(address);
  if (block == nullptr || block->region.pages == nullptr ||
      bytes > block->base + block->bytes - address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out->pages = block->region.pages;
  out->offset = address - block->region.base;
  if (block->type == AllocationType::kPooled) {
    out->shareable = block->pool->properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    return CUDA_SUCCESS;
  }
  if (block->type != AllocationType::kMapping) return CUDA_ERROR_INVALID_VALUE;
  out->shareable =
      HandleOfMapping(*block)->properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult WaitForTeam(CUmemGenericAllocationHandle handle) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(1);
  constexpr int kPatience = 10'000;  // looks
  for (int looks = 0;; ++looks) {
    {
      const EngineLock lock;
      MulticastObject* object = nullptr;
      CUHEAP_SIM_TRY(ObjectOf(handle, &object));
      Follow(object);
      if (object->is_complete()) return CUDA_SUCCESS;
    }
    if (looks == kPatience) {
      std::fputs("cuheap-sim: a thread waits until all devices of a multicast object are added\n",
                 stderr);
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

CUresult face::MulticastGetGranularity(size_t* out, const CUmulticastObjectProp* properties,
                                       CUmulticastGranularity_flags option) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  if (option > CU_MULTICAST_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(CheckMulticast(*properties));
  *out = kPageBytes;
  return CUDA_SUCCESS;
}

CUresult face::MulticastCreate(CUmemGenericAllocationHandle* out,
                               const CUmulticastObjectProp* properties) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  CUHEAP_SIM_TRY(CheckMulticast(*properties));
  if (properties->size == 0 || properties->size % kPageBytes != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  *out = reinterpret_cast<CUmemGenericAllocationHandle>(CreateMulticast(*properties));
  return CUDA_SUCCESS;
}

CUresult face::MulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  const EngineLock lock;
  MulticastObject* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(handle, &object));
  return AddMember(object, device);
}

CUresult face::MulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                                CUmemGenericAllocationHandle memory_handle, size_t memory_offset,
                                size_t bytes, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(WaitForTeam(handle));
  const EngineLock lock;
  MulticastObject* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(handle, &object));
  const PhysicalHandle* memory = FindHandle(memory_handle);
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool shareable = memory->properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  return Bind(object, offset, {memory->pages, memory_offset, shareable}, bytes);
}

CUresult face::MulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                                 CUdeviceptr address, size_t bytes, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(WaitForTeam(handle));
  const EngineLock lock;
  MulticastObject* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(handle, &object));
  BindableMemory memory;
  CUHEAP_SIM_TRY(MemoryAt(address, bytes, &memory));
  return Bind(object, offset, memory, bytes);
}

CUresult face::MulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                               size_t bytes) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  const EngineLock lock;
  MulticastObject* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(handle, &object));
  return Unbind(object, device, offset, bytes);
}

}  // namespace cuheap::sim
