#include "tests/sim/engine/memory_pool.h"

#include <algorithm>
#include <cstring>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {
namespace {

MemoryPool* defaults[kMaxDevices];
MemoryPool* currents[kMaxDevices];
// Synchronisation is frequent and pools are rare: this keeps it cheap where there is none.
std::atomic<bool> any_pool_used{false};

bool IsReuse(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

ReusePolicy PolicyOf(const MemoryPool& pool) {
  return {pool.reuse[CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] != 0,
          pool.reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] != 0,
          pool.reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES] != 0};
}

// Where the next block lies, and what its stream has to wait for.
std::optional<PendingFrees::Reused> FindMemory(MemoryPool* pool, Stream* stream,
                                               std::uint64_t bytes) {
  const std::uint64_t limit =
      pool->properties.maxSize == 0 ? UINT64_MAX : std::max(pool->properties.maxSize, kPageBytes);
  const ReusePolicy policy = PolicyOf(*pool);
  if (policy.opportunistic) pool->pending.ReturnDone(&pool->heap);
  if (auto reused = pool->pending.Take(bytes, stream, policy)) return reused;
  if (const auto address = pool->heap.Allocate(bytes, limit))
    return PendingFrees::Reused{*address, nullptr};
  return pool->pending.TakeByWaiting(bytes, policy);
}

void AddPooled(MemoryPool* pool, Context* context, std::uint64_t bytes, std::uintptr_t address) {
  Allocation block;
  block.base = address;
  block.bytes = bytes;
  block.type = AllocationType::kPooled;
  block.device = pool->device;
  block.context = context;
  block.pool = pool;
  block.held_bytes = bytes;
  block.region = pool->heap.RegionOf(address);
  AddAllocation(std::move(block));
  ++pool->live_blocks;
  pool->used_high = std::max(pool->used_high, pool->heap.used());
  pool->reserved_high = std::max(pool->reserved_high, pool->heap.reserved());
}

void Left(MemoryPool* pool) {
  if (--pool->live_blocks == 0 && pool->destroyed) MemoryPools().Delete(pool);
}

}  // namespace

HandlePool<MemoryPool>& MemoryPools() {
  static auto& pool = *new HandlePool<MemoryPool>;
  return pool;
}

MemoryPool* DefaultPool(int device) {
  const EngineLock lock;
  if (defaults[device] == nullptr) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    NewPool(properties, &defaults[device]);
  }
  return defaults[device];
}

MemoryPool* CurrentPool(int device) {
  const EngineLock lock;
  return currents[device] != nullptr ? currents[device] : DefaultPool(device);
}

CUresult SetCurrentPool(int device, MemoryPool* pool) {
  const EngineLock lock;
  if (pool->device != device) return CUDA_ERROR_INVALID_VALUE;
  currents[device] = pool;
  return CUDA_SUCCESS;
}

CUresult NewPool(const CUmemPoolProps& properties, MemoryPool** out) {
  if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  const int device = properties.location.id;
  if (device < 0 || device >= TheSettings().devices) return CUDA_ERROR_INVALID_DEVICE;
  *out = MemoryPools().New(device, properties);
  (*out)->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult DestroyPool(MemoryPool* pool) {
  const EngineLock lock;
  if (pool == defaults[pool->device] || pool->destroyed) return CUDA_ERROR_INVALID_VALUE;
  if (currents[pool->device] == pool) currents[pool->device] = nullptr;
  pool->destroyed = true;
  if (pool->live_blocks == 0) MemoryPools().Delete(pool);
  return CUDA_SUCCESS;
}

CUresult AllocateFromPool(MemoryPool* pool, Stream* stream, std::uint64_t bytes,
                          std::uintptr_t* out) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > DeviceCapacity(pool->device)) return CUDA_ERROR_OUT_OF_MEMORY;
  any_pool_used = true;
  std::optional<PendingFrees::Reused> found;
  {
    const EngineLock lock;
    found = FindMemory(pool, stream, bytes);
    if (!found) return CUDA_ERROR_OUT_OF_MEMORY;
    AddPooled(pool, stream->context, bytes, found->address);
  }
  *out = found->address;
  if (!IsQueued()) return CUDA_SUCCESS;
  TicketPtr ticket;
  std::vector<TicketPtr> after;
  if (found->wait_for != nullptr) after.push_back(found->wait_for);
  const CUresult result = Enqueue(stream, EmptyOp{}, after, &ticket);
  MemoryBegins(found->address, bytes, ticket);
  return result;
}

CUresult FreeInStream(std::uintptr_t address, Stream* stream) {
  {
    const EngineLock lock;
    const Allocation* block = FindAllocation(address);
    if (block == nullptr || block->base != address) return CUDA_ERROR_INVALID_VALUE;
    if (block->type != AllocationType::kPooled || !IsQueued()) return FreeDevice(address);
  }
  TicketPtr ticket;
  const CUresult result = Enqueue(stream, EmptyOp{}, {}, &ticket);
  if (result != CUDA_SUCCESS) return result;
  const EngineLock lock;
  const Allocation block = AllAllocations().at(address);
  MemoryEnds(address, block.bytes, ticket);
  RemoveAllocation(address);
  block.pool->pending.Add(address, block.held_bytes, ticket);
  Left(block.pool);
  return CUDA_SUCCESS;
}

void ReturnToPool(const Allocation& block) {
  MemoryPool* pool = block.pool;
  pool->heap.Free(block.base, block.held_bytes);
  Left(pool);
}

void TrimAtSynchronization(int device) {
  if (!any_pool_used.load(std::memory_order_acquire)) return;
  const EngineLock lock;
  MemoryPools().ForEach([&](MemoryPool* pool) {
    if (pool->device != device) return;
    pool->pending.ReturnDone(&pool->heap);
    pool->heap.Trim(pool->release_threshold);
  });
}

bool IsPoolMemory(std::uintptr_t address) {
  if (!any_pool_used.load(std::memory_order_acquire)) return false;
  const EngineLock lock;
  bool found = false;
  MemoryPools().ForEach([&](MemoryPool* pool) { found |= pool->heap.Contains(address); });
  return found;
}

CUresult SetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, const void* value) {
  const EngineLock lock;
  if (IsReuse(attribute)) {
    std::memcpy(&pool->reuse[attribute], value, sizeof(int));
    return CUDA_SUCCESS;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, value, sizeof(number));
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool->release_threshold = number;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->reserved_high = pool->heap.reserved();
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->used_high = pool->heap.used();
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
      number = pool->heap.used();
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
