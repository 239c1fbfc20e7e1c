// How much memory graphs have, and giving back what none of them needs.
#include "tests/sim/engine/graph_memory.h"

#include "tests/sim/driver/support.h"

namespace cuheap::sim {

CUresult face::DeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  CUHEAP_SIM_TRY(NeedDevice(device));
  auto* const bytes = static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      *bytes = MappedGraphBytes(device);
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      *bytes = MostMappedGraphBytes(device);
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      *bytes = UsedBytes(device, MemoryKind::kGraph);
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      *bytes = MostUsedBytes(device, MemoryKind::kGraph);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// Only the high watermarks can be set, and only to 0: back to what there is now.
CUresult face::DeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (*static_cast<cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      ForgetMostMapped(device);
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      ForgetMostUsed(device, MemoryKind::kGraph);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult face::DeviceGraphMemTrim(CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  TrimGraphMemory(device);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
