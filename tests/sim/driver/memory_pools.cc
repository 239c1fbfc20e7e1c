// Stream-ordered allocation and its pools.
#include "tests/sim/driver/pool_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/pool_attributes.h"
#include "tests/sim/engine/pool_places.h"

namespace cuheap::sim {
namespace {

CUmemoryPool HandleOf(MemoryPool* pool) { return Cast<CUmemoryPool>(pool); }

// The two oldest calls do not document INVALID_DEVICE.
CUresult NeedOrdinal(CUdevice device) {
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult SetCurrent(CUmemoryPool handle, const PoolPlace& place) {
  const EngineLock lock;
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  if (PlaceOf(*pool) != place || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  SetCurrentPool(pool);
  return CUDA_SUCCESS;
}

// In a capture, allocating makes a node that owns its memory.
CUresult CaptureAllocation(Stream* stream, const MemoryPool& pool, std::uint64_t bytes,
                           CUdeviceptr* out) {
  const EngineLock lock;
  AllocOp allocation;
  CUHEAP_SIM_TRY(NewGraphMemory(pool.properties.location, bytes, &allocation.memory));
  for (int device = 0; device < TheSettings().devices; ++device) {
    const bool given =
        device != pool.device && pool.access[device] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!given) continue;
    allocation.memory->access.push_back(
        {{CU_MEM_LOCATION_TYPE_DEVICE, device}, pool.access[device]});
  }
  const std::uintptr_t address = allocation.memory->region.base;
  CUHEAP_SIM_TRY(Submit(stream, std::move(allocation)));
  *out = address;
  return CUDA_SUCCESS;
}

CUresult Allocate(CUdeviceptr* out, size_t bytes, MemoryPool* pool, Stream* stream) {
  {
    const EngineLock lock;
    CUHEAP_SIM_TRY(CheckSubmission(stream));
    if (stream->capture.load() != nullptr) {
      // Memory of a node is pinned.
      const bool managed = pool->properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
      if (managed) return CUDA_ERROR_NOT_SUPPORTED;
      return CaptureAllocation(stream, *pool, bytes, out);
    }
  }
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(AllocateFromPool(pool, stream, bytes, &address));
  *out = address;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::MemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return Allocate(out, bytes, CurrentPool(PlaceOfDevice(stream->context->device)), stream);
}

CUresult face::MemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool_handle,
                                     CUstream handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(pool_handle, &pool));
  if (pool->imported) return CUDA_ERROR_INVALID_VALUE;
  return Allocate(out, bytes, pool, stream);
}

CUresult face::MemFreeAsync(CUdeviceptr address, CUstream handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (address == 0) return CUDA_SUCCESS;
  {
    const EngineLock lock;
    CUHEAP_SIM_TRY(CheckSubmission(stream));
    if (stream->capture.load() != nullptr) return Submit(stream, FreeOp{address});
  }
  return FreeInStream(address, stream);
}

CUresult face::DeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  *out = HandleOf(DefaultPool(PlaceOfDevice(device)));
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedOrdinal(device));
  *out = HandleOf(CurrentPool(PlaceOfDevice(device)));
  return CUDA_SUCCESS;
}

CUresult face::DeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  CUHEAP_SIM_TRY(NeedOrdinal(device));
  return SetCurrent(handle, PlaceOfDevice(device));
}

CUresult face::MemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location,
                                    CUmemAllocationType type) {
  CUHEAP_SIM_TRY(NeedPointers(out, location));
  PoolPlace place;
  CUHEAP_SIM_TRY(PoolPlaceOf(*location, type, &place));
  *out = HandleOf(DefaultPool(place));
  return CUDA_SUCCESS;
}

CUresult face::MemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  CUHEAP_SIM_TRY(NeedPointers(out, location));
  PoolPlace place;
  if (PoolPlaceOf(*location, type, &place) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  *out = HandleOf(CurrentPool(place));
  return CUDA_SUCCESS;
}

CUresult face::MemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  CUHEAP_SIM_TRY(NeedPointers(location));
  PoolPlace place;
  if (PoolPlaceOf(*location, type, &place) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  return SetCurrent(pool, place);
}

CUresult face::MemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  const EngineLock lock;
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(NewPool(*properties, &pool));
  *out = HandleOf(pool);
  return CUDA_SUCCESS;
}

CUresult face::MemPoolDestroy(CUmemoryPool handle) {
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  return DestroyPool(pool);
}

CUresult face::MemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  TrimPool(pool, keep);
  return CUDA_SUCCESS;
}

CUresult face::MemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                   void* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  return SetPoolAttribute(pool, attribute, value);
}

CUresult face::MemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                   void* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  return GetPoolAttribute(pool, attribute, value);
}

CUresult face::MemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access, size_t count) {
  CUHEAP_SIM_TRY(NeedPointers(access));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  return SetPoolAccess(pool, access, count);
}

CUresult face::MemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                                CUmemLocation* location) {
  CUHEAP_SIM_TRY(NeedPointers(flags, location));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  std::size_t index = 0;
  CUHEAP_SIM_TRY(AccessIndex(*location, &index));
  const EngineLock lock;
  *flags = pool->access[index];
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
