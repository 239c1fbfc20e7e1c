// Allocation nodes as their parameters describe them.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/pool_places.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

CUresult CheckAccess(const CUmemAccessDesc& access) {
  const bool known = access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                     access.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                     access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (!known || access.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  return NeedDevice(access.location.id);
}

template <class Parameters>
CUresult CheckAllocation(const Parameters& parameters) {
  const CUmemPoolProps& properties = parameters.poolProps;
  if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  PoolPlace place;  // a node's memory may be wherever a pool's may
  CUHEAP_SIM_TRY(PoolPlaceOf(properties.location, properties.allocType, &place));
  const size_t count = parameters.accessDescCount;
  if (count > static_cast<size_t>(TheSettings().devices)) return CUDA_ERROR_INVALID_VALUE;
  if (count != 0) CUHEAP_SIM_TRY(NeedPointers(parameters.accessDescs));
  for (size_t i = 0; i < count; ++i) CUHEAP_SIM_TRY(CheckAccess(parameters.accessDescs[i]));
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult AllocationOf(const Parameters& parameters, NodeWork* out) {
  CUHEAP_SIM_TRY(CheckAllocation(parameters));
  const CUmemPoolProps& properties = parameters.poolProps;
  const EngineLock lock;
  AllocOp allocation;
  CUHEAP_SIM_TRY(NewGraphMemory(properties.location, parameters.bytesize, &allocation.memory));
  allocation.memory->properties = properties;
  allocation.memory->access.assign(parameters.accessDescs,
                                   parameters.accessDescs + parameters.accessDescCount);
  out->operation = std::move(allocation);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult WorkOf(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, NodeWork* out) {
  return AllocationOf(parameters, out);
}
CUresult WorkOf(const CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters, NodeWork* out) {
  return AllocationOf(parameters, out);
}

}  // namespace cuheap::sim
