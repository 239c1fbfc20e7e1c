#include "tests/sim/engine/pool_places.h"

#include <map>

#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {
namespace {

struct Pools {
  MemoryPool* standard = nullptr;
  MemoryPool* current = nullptr;  // where it is another one
};

std::map<PoolPlace, Pools>& Places() {
  static auto& map = *new std::map<PoolPlace, Pools>;
  return map;
}

}  // namespace

CUresult PoolPlaceOf(const CUmemLocation& location, CUmemAllocationType type, PoolPlace* out) {
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && !managed) return CUDA_ERROR_INVALID_VALUE;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!IsDevice(location.id)) return CUDA_ERROR_INVALID_DEVICE;
      *out = {type, location.type, location.id};
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:  // the machine has one node, number 0
      if (location.id != 0) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
      break;
    case CU_MEM_LOCATION_TYPE_NONE:
      if (!managed) return CUDA_ERROR_INVALID_VALUE;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  *out = {type, location.type, 0};
  return CUDA_SUCCESS;
}

PoolPlace PlaceOf(const MemoryPool& pool) {
  const CUmemLocation& location = pool.properties.location;
  const bool of_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  return {pool.properties.allocType, location.type, of_device ? location.id : 0};
}

MemoryPool* DefaultPool(const PoolPlace& place) {
  const EngineLock lock;
  Pools& pools = Places()[place];
  if (pools.standard == nullptr) {
    CUmemPoolProps properties{};
    properties.allocType = place.type;
    properties.location = {place.location, place.id};
    NewPool(properties, &pools.standard);
  }
  return pools.standard;
}

MemoryPool* CurrentPool(const PoolPlace& place) {
  const EngineLock lock;
  MemoryPool* current = Places()[place].current;
  return current != nullptr ? current : DefaultPool(place);
}

bool IsDefaultPool(const MemoryPool* pool) {
  const EngineLock lock;
  return Places()[PlaceOf(*pool)].standard == pool;
}

void SetCurrentPool(MemoryPool* pool) {
  const EngineLock lock;
  Places()[PlaceOf(*pool)].current = pool;
}

void SetDefaultInsteadOf(const MemoryPool* pool) {
  const EngineLock lock;
  Pools& pools = Places()[PlaceOf(*pool)];
  if (pools.current == pool) pools.current = nullptr;
}

}  // namespace cuheap::sim
