#include "tests/sim/engine/access_rights.h"

#include "tests/sim/engine/device.h"
#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {

bool IsManaged(const Allocation& block) {
  return block.type == AllocationType::kManaged ||
         (block.pool != nullptr &&
          block.pool->properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED);
}

bool IsHostMemory(const Allocation& block) {
  return block.type == AllocationType::kHost || block.type == AllocationType::kDeviceView ||
         block.type == AllocationType::kRegistered ||
         (block.device == kHostDevice && !IsManaged(block));
}

CUresult AccessIndex(const CUmemLocation& location, std::size_t* index) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!IsDevice(location.id)) return CUDA_ERROR_INVALID_DEVICE;
      *index = static_cast<std::size_t>(location.id);
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      *index = kHostAccess;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

bool IsAccess(CUmemAccess_flags flags) {
  return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
         flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

unsigned AccessOf(const Allocation& block, std::size_t index) {
  if (block.type == AllocationType::kMapping || block.type == AllocationType::kMulticast) {
    return block.access[index];
  }
  if (block.pool != nullptr) return block.pool->access[index];
  if (IsManaged(block) || IsHostMemory(block)) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const bool own = static_cast<std::size_t>(block.device) == index;
  return own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

}  // namespace cuheap::sim
