// Memory imported from other interfaces, and exported to them.
#include "tests/sim/engine/external_memory.h"

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

CUresult PrepareMapping(CUexternalMemory handle, Context** context, ExternalMemory** memory) {
  CUHEAP_SIM_TRY(CurrentContext(context));
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  *memory = FindExternalMemory(handle);
  return *memory == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

// Handles of Windows, of NvSciBuf and of dma_buf belong to platforms that are not this one.
CUresult CheckType(CUexternalMemoryHandleType type) {
  if (type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_SUCCESS;
  const bool known = type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD &&
                     type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD;
  return known ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult face::ImportExternalMemory(CUexternalMemory* out,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(CheckType(description->type));
  if ((description->flags & ~CUDA_EXTERNAL_MEMORY_DEDICATED) != 0) return CUDA_ERROR_INVALID_VALUE;
  ExternalMemory* memory = nullptr;
  CUHEAP_SIM_TRY(ImportFile(description->handle.fd, description->size, &memory));
  *out = Cast<CUexternalMemory>(memory);
  return CUDA_SUCCESS;
}

CUresult face::ExternalMemoryGetMappedBuffer(CUdeviceptr* out, CUexternalMemory handle,
                                             const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  Context* context = nullptr;
  ExternalMemory* memory = nullptr;
  CUHEAP_SIM_TRY(PrepareMapping(handle, &context, &memory));
  if (description->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(MapBuffer(context, *memory, description->offset, description->size, &address));
  *out = address;
  return CUDA_SUCCESS;
}

CUresult face::ExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* out, CUexternalMemory handle,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  Context* context = nullptr;
  ExternalMemory* memory = nullptr;
  CUHEAP_SIM_TRY(PrepareMapping(handle, &context, &memory));
  if (description->numLevels == 0) return CUDA_ERROR_INVALID_VALUE;
  ArrayStoragePtr storage;
  CUHEAP_SIM_TRY(MapStorage(context, *memory, description->offset, &storage));
  Mipmap* mipmap = nullptr;
  CUHEAP_SIM_TRY(
      CreateMipmapIn(std::move(storage), description->arrayDesc, description->numLevels, &mipmap));
  *out = Cast<CUmipmappedArray>(mipmap);
  return CUDA_SUCCESS;
}

CUresult face::DestroyExternalMemory(CUexternalMemory handle) {
  ExternalMemory* memory = FindExternalMemory(handle);
  if (memory == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  cuheap::sim::DestroyExternalMemory(memory);
  return CUDA_SUCCESS;
}

CUresult face::MemGetHandleForAddressRange(void* out, CUdeviceptr address, size_t bytes,
                                           CUmemRangeHandleType type, unsigned long long flags) {
  constexpr std::uint64_t kHostPage = 4096;
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || bytes == 0 || address % kHostPage != 0 ||
      bytes % kHostPage != 0 || (flags & ~CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUHEAP_SIM_TRY(CheckRangesAtSubmission({{address, bytes, false}}));
  return CUDA_ERROR_NOT_SUPPORTED;  // as CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED says
}

}  // namespace cuheap::sim
