// Virtual memory management.
#include "tests/sim/engine/virtual_memory.h"

#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUmemGenericAllocationHandle HandleOf(PhysicalHandle* handle) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

}  // namespace

CUresult face::MemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* properties,
                                           CUmemAllocationGranularity_flags) {
  CUHEAP_SIM_TRY(NeedPointers(out, properties));
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
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
  *out = HandleOf(handle);
  return CUDA_SUCCESS;
}

CUresult face::MemRelease(CUmemGenericAllocationHandle handle) { return ReleaseHandle(handle); }

CUresult face::MemMap(CUdeviceptr base, size_t bytes, size_t offset,
                      CUmemGenericAllocationHandle value, unsigned long long flags) {
  PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return MapHandle(base, bytes, offset, handle);
}

CUresult face::MemUnmap(CUdeviceptr base, size_t bytes) { return UnmapRange(base, bytes); }

CUresult face::MemSetAccess(CUdeviceptr base, size_t bytes, const CUmemAccessDesc* access,
                            size_t count) {
  CUHEAP_SIM_TRY(NeedPointers(access));
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
  PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return ExportHandle(handle, static_cast<int*>(out));
}

CUresult face::MemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* os_handle,
                                            CUmemAllocationHandleType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  PhysicalHandle* handle = nullptr;
  const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
  CUHEAP_SIM_TRY(ImportHandle(fd, &handle));
  *out = HandleOf(handle);
  return CUDA_SUCCESS;
}

CUresult face::MemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                    CUmemGenericAllocationHandle value) {
  CUHEAP_SIM_TRY(NeedPointers(out));
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
