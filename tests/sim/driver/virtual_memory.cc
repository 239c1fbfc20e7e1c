// Virtual memory management.
#include "tests/sim/engine/virtual_memory.h"

#include <bit>

#include "tests/sim/driver/multicast.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/multicast_mapping.h"
#include "tests/sim/engine/multicast_sharing.h"

namespace cuheap::sim {
namespace {

// Calls that may say INVALID_DEVICE are others.
CUresult CheckProperties(const CUmemAllocationProp& properties) {
  int device = 0;
  const CUresult result = PlaceOf(properties, &device);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult CheckSharing(CUmemAllocationHandleType type) {
  const bool one = std::has_single_bit(static_cast<unsigned>(type));
  return one ? CheckHandleTypes(type) : CUDA_ERROR_INVALID_VALUE;
}

bool IsMulticastHandle(CUmemGenericAllocationHandle handle) {
  const EngineLock lock;
  return FindMulticast(handle) != nullptr;
}

}  // namespace

CUresult face::MemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* properties,
                                           CUmemAllocationGranularity_flags option) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
      option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUHEAP_SIM_TRY(CheckProperties(*properties));
  *out = kPageBytes;
  return CUDA_SUCCESS;
}

CUresult face::MemAddressReserve(CUdeviceptr* out, size_t bytes, size_t alignment, CUdeviceptr hint,
                                 unsigned long long flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::uintptr_t base = 0;
  CUHEAP_SIM_TRY(ReserveRange(bytes, alignment, hint, &base));
  *out = base;
  return CUDA_SUCCESS;
}

CUresult face::MemAddressFree(CUdeviceptr base, size_t bytes) { return FreeRange(base, bytes); }

CUresult face::MemCreate(CUmemGenericAllocationHandle* out, size_t bytes,
                         const CUmemAllocationProp* properties, unsigned long long flags) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  PhysicalHandle* handle = nullptr;
  CUHEAP_SIM_TRY(CreateHandle(bytes, *properties, &handle));
  *out = ValueOf(handle);
  return CUDA_SUCCESS;
}

CUresult face::MemRelease(CUmemGenericAllocationHandle handle) {
  const EngineLock lock;
  if (MulticastHandle* multicast = FindMulticast(handle)) {
    ReleaseMulticast(multicast);
    return CUDA_SUCCESS;
  }
  return ReleaseHandle(handle);
}

CUresult face::MemMap(CUdeviceptr base, size_t bytes, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (IsMulticastHandle(handle)) CUHEAP_SIM_TRY(WaitForTeam(handle));
  const EngineLock lock;
  if (MulticastHandle* multicast = FindMulticast(handle)) {
    return offset != 0 ? CUDA_ERROR_INVALID_VALUE : MapMulticast(base, bytes, multicast);
  }
  return MapHandle(base, bytes, offset, handle);
}

CUresult face::MemUnmap(CUdeviceptr base, size_t bytes) { return UnmapRange(base, bytes); }

CUresult face::MemSetAccess(CUdeviceptr base, size_t bytes, const CUmemAccessDesc* access,
                            size_t count) {
  CUHEAP_SIM_TRY(NeedPointers(access));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  return SetRangeAccess(base, bytes, access, count);
}

CUresult face::MemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                            CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(flags, location));
  return GetRangeAccess(address, *location, flags);
}

CUresult face::MemExportToShareableHandle(void* out, CUmemGenericAllocationHandle value,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const MulticastHandle* multicast = FindMulticast(value);
  PhysicalHandle* handle = FindHandle(value);
  if ((handle == nullptr && multicast == nullptr) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(CheckSharing(type));
  if (multicast != nullptr) return ExportMulticast(multicast->object, static_cast<int*>(out));
  return ExportHandle(handle, static_cast<int*>(out));
}

CUresult face::MemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* os_handle,
                                            CUmemAllocationHandleType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(CheckSharing(type));
  PhysicalHandle* handle = nullptr;
  const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
  const EngineLock lock;
  if (IsMulticastFile(fd)) {
    MulticastHandle* multicast = nullptr;
    CUHEAP_SIM_TRY(ImportMulticast(fd, &multicast));
    *out = reinterpret_cast<CUmemGenericAllocationHandle>(multicast);
    return CUDA_SUCCESS;
  }
  CUHEAP_SIM_TRY(ImportHandle(fd, &handle));
  *out = ValueOf(handle);
  return CUDA_SUCCESS;
}

CUresult face::MemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                    CUmemGenericAllocationHandle value) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = handle->properties;
  return CUDA_SUCCESS;
}

CUresult face::MemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  return RetainHandle(reinterpret_cast<std::uintptr_t>(address), out);
}

}  // namespace cuheap::sim
