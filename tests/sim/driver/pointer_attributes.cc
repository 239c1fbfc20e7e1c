// What a pointer is.
#include <cstring>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/host_memory.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/multicast_mapping.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/virtual_memory.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

template <class Value>
CUresult Give(void* out, Value value) {
  std::memcpy(out, &value, sizeof(value));
  return CUDA_SUCCESS;
}

// Of the current context's device; without a context, of the device that has the memory.
unsigned AccessFlags(const Allocation& block) {
  const Context* context = TopContext();
  if (context == nullptr) return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
  switch (AccessOf(*context, block)) {
    case Access::kReadWrite:
      return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
    case Access::kRead:
      return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ;
    default:
      return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
  }
}

CUresult DevicePointer(const Allocation& block, CUdeviceptr address, void* out) {
  CUHEAP_SIM_TRY(NeedContext());
  if (AccessFlags(block) == CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE) return CUDA_ERROR_INVALID_VALUE;
  return Give<CUdeviceptr>(out, DeviceAddressIn(block, address));
}

CUresult HostPointer(const Allocation& block, CUdeviceptr address, void* out) {
  const bool known = IsHostMemory(block) || IsManaged(block);
  const bool open = block.type != AllocationType::kMapping || AccessOf(block, kHostAccess) != 0;
  return known && open ? Give<CUdeviceptr>(out, HostAddressIn(block, address))
                       : CUDA_ERROR_INVALID_VALUE;
}

unsigned HandleTypes(const Allocation& block) {
  if (block.pool != nullptr) return block.pool->properties.handleTypes;
  if (IsMulticast(block)) return static_cast<unsigned>(ObjectAt(block).properties.handleTypes);
  if (block.type != AllocationType::kMapping) return CU_MEM_HANDLE_TYPE_NONE;
  return HandleOfMapping(block)->properties.requestedHandleTypes;
}

// What cuMemMap may fill is the range of what it has filled.
Reservation RangeOf(const Allocation& block) {
  const bool in_reservation = block.type == AllocationType::kMapping || IsMulticast(block);
  if (in_reservation) return ReservationOf(block.base);
  return {block.base, block.bytes};
}

// Of addresses that are reserved and show nothing.
CUresult AnswerReserved(const Reservation& range, CUpointer_attribute attribute, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return Give<CUdeviceptr>(out, range.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return Give<std::size_t>(out, range.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Give<unsigned>(out, 0);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// Nobody can use them here, but asking has its documented effect.
CUresult GiveTokens(Allocation& block, void* out) {
  if (block.type != AllocationType::kLinear) return CUDA_ERROR_INVALID_VALUE;
  block.sync_memops = true;
  return Give(out, CUDA_POINTER_ATTRIBUTE_P2P_TOKENS{block.buffer_id,
                                                     static_cast<unsigned>(block.context->id)});
}

CUresult Answer(Allocation& block, CUpointer_attribute attribute, CUdeviceptr address, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return Give(out, HandleOf(block.context));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return Give<unsigned>(out, IsHostMemory(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return DevicePointer(block, address, out);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return HostPointer(block, address, out);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return GiveTokens(block, out);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return Give<unsigned>(out, block.sync_memops ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return Give<unsigned long long>(out, block.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return Give<unsigned>(out, IsManaged(block) ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Give<int>(out, block.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return Give<unsigned>(out, block.type == AllocationType::kLinear ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return Give<CUdeviceptr>(out, RangeOf(block).base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return Give<std::size_t>(out, RangeOf(block).bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Give<unsigned>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return Give<unsigned>(out, HandleTypes(block));
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
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::size_t SizeOf(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return sizeof(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS);
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

bool IsKnown(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
         attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE &&
         attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS;
}

}  // namespace

CUresult face::PointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  if (Allocation* block = FindAllocation(address)) {
    return Answer(*block, attribute, address, out);
  }
  const Reservation range = ReservationOf(address);
  return range.bytes == 0 ? CUDA_ERROR_INVALID_VALUE : AnswerReserved(range, attribute, out);
}

CUresult face::PointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                    CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(attributes, out));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (out[i] == nullptr || !IsKnown(attributes[i])) return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (PointerGetAttribute(out[i], attributes[i], address) != CUDA_SUCCESS) {
      AnswerUnknown(attributes[i], out[i]);
    }
  }
  return CUDA_SUCCESS;
}

CUresult face::PointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                   CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  unsigned number = 0;
  std::memcpy(&number, value, sizeof(number));
  int device = kHostDevice;
  {
    const EngineLock lock;
    Allocation* block = FindAllocation(address);
    if (block == nullptr || block->type == AllocationType::kRegistered) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    block->sync_memops = number != 0;
    device = block->device;
  }
  // Synchronous operations that are pending come to their end.
  if (number != 0 && device != kHostDevice) WaitForDevice(device);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
