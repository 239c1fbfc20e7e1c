// What a pointer is, and hints about managed memory.
#include <cstring>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"

namespace cuheap::sim {
namespace {

bool IsHost(const Allocation& block) {
  return block.type == AllocationType::kHost || block.type == AllocationType::kRegistered;
}

template <class Value>
CUresult Give(void* out, Value value) {
  std::memcpy(out, &value, sizeof(value));
  return CUDA_SUCCESS;
}

unsigned AccessFlags(const Allocation& block) {
  const Context* context = TopContext();
  if (context == nullptr || block.type != AllocationType::kMapping) {
    return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
  }
  return block.access[context->device];
}

CUresult Answer(const Allocation& block, CUpointer_attribute attribute, CUdeviceptr address,
                void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return Give(out, HandleOf(block.context));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return Give<unsigned>(out, IsHost(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return Give(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!IsHost(block) && block.type != AllocationType::kManaged) return CUDA_ERROR_INVALID_VALUE;
      return Give(out, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return Give<unsigned>(out, block.sync_memops ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return Give<unsigned long long>(out, block.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return Give<unsigned>(out, block.type == AllocationType::kManaged ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Give<int>(out, block.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return Give<unsigned>(out, block.type == AllocationType::kLinear ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return Give<CUdeviceptr>(out, block.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return Give<std::size_t>(out, block.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Give<unsigned>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return Give<unsigned>(out, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return Give<unsigned>(out, AccessFlags(block));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return Give(out, block.pool);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return Give<std::size_t>(out, block.region.bytes != 0 ? block.region.bytes : block.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return Give<CUdeviceptr>(out, block.region.base != 0 ? block.region.base : block.base);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return Give<unsigned long long>(
          out, block.region.pages != nullptr ? block.region.pages->block_id() : 0);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

std::size_t SizeOf(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return 8;
    default:
      return 4;
  }
}

// cuPointerGetAttributes succeeds on memory CUDA does not know and then says so by its values.
void AnswerUnknown(CUpointer_attribute attribute, void* out) {
  std::memset(out, 0, SizeOf(attribute));
  if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) Give<int>(out, -2);
}

}  // namespace

CUresult face::PointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  return block == nullptr ? CUDA_ERROR_INVALID_VALUE : Answer(*block, attribute, address, out);
}

CUresult face::PointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                    CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(attributes, out));
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  for (unsigned i = 0; i < count; ++i) {
    if (block == nullptr || Answer(*block, attributes[i], address, out[i]) != CUDA_SUCCESS) {
      AnswerUnknown(attributes[i], out[i]);
    }
  }
  return CUDA_SUCCESS;
}

CUresult face::PointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                   CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Allocation* block = FindAllocation(address);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned number = 0;
  std::memcpy(&number, value, sizeof(number));
  block->sync_memops = number != 0;
  return CUDA_SUCCESS;
}

// Managed memory lives on the host here, so advice and prefetches only check their range.
CUresult face::MemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise, CUmemLocation) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  const bool managed = block != nullptr && block->type == AllocationType::kManaged;
  return managed && bytes <= block->base + block->bytes - address ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_VALUE;
}

CUresult face::MemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return MemAdvise_v2(address, bytes, advice, {CU_MEM_LOCATION_TYPE_DEVICE, device});
}

CUresult face::MemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                   unsigned flags, CUstream handle) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return MemAdvise_v2(address, bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location);
}

CUresult face::MemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                CUstream stream) {
  return MemPrefetchAsync_v2(address, bytes, {CU_MEM_LOCATION_TYPE_DEVICE, device}, 0, stream);
}

}  // namespace cuheap::sim
