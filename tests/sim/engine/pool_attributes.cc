#include "tests/sim/engine/pool_attributes.h"

#include <cstring>

#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

bool IsReuse(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

}  // namespace

CUresult SetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, const void* value) {
  const EngineLock lock;
  if (IsReuse(attribute)) {
    std::memcpy(&pool->reuse[attribute], value, sizeof(int));
    return CUDA_SUCCESS;
  }
  std::uint64_t number = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      std::memcpy(&pool->release_threshold, value, sizeof(number));
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      std::memcpy(&number, value, sizeof(number));
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->reserved_high = pool->heap.reserved();
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      std::memcpy(&number, value, sizeof(number));
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->used_high = UsedBytes(*pool);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult GetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, void* value) {
  const EngineLock lock;
  if (IsReuse(attribute)) {
    std::memcpy(value, &pool->reuse[attribute], sizeof(int));
    return CUDA_SUCCESS;
  }
  std::uint64_t number = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      number = pool->release_threshold;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      number = pool->heap.reserved();
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      number = pool->reserved_high;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      number = UsedBytes(*pool);
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      number = pool->used_high;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(value, &number, sizeof(number));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
