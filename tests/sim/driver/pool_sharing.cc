// Pools and their blocks between processes.
#include "tests/sim/engine/pool_sharing.h"

#include "tests/sim/driver/pool_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUresult NeedDescriptors(CUmemAllocationHandleType type, unsigned long long flags) {
  const bool known = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return known && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult face::MemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                              CUmemAllocationHandleType type,
                                              unsigned long long flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  CUHEAP_SIM_TRY(NeedDescriptors(type, flags));
  return ExportPool(pool, static_cast<int*>(out));
}

CUresult face::MemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle,
                                                CUmemAllocationHandleType type,
                                                unsigned long long flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDescriptors(type, flags));
  MemoryPool* pool = nullptr;
  const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  CUHEAP_SIM_TRY(ImportPool(fd, &pool));
  *out = Cast<CUmemoryPool>(pool);
  return CUDA_SUCCESS;
}

CUresult face::MemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  return ExportPoolBlock(address, out);
}

CUresult face::MemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle,
                                    CUmemPoolPtrExportData* data) {
  CUHEAP_SIM_TRY(NeedPointers(out, data));
  MemoryPool* pool = nullptr;
  CUHEAP_SIM_TRY(PoolOf(handle, &pool));
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(ImportPoolBlock(pool, *data, &address));
  *out = address;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
