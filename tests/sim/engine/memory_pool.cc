#include "tests/sim/engine/memory_pool.h"

#include <algorithm>
#include <iterator>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/managed_memory.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/physical_handle.h"
#include "tests/sim/engine/pool_places.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {
namespace {

// Synchronisation is frequent and pools are rare: this keeps it cheap where there is none.
std::atomic<bool> any_pool_used{false};

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
  pool->used_high = std::max(pool->used_high, UsedBytes(*pool));
  pool->reserved_high = std::max(pool->reserved_high, pool->heap.reserved());
}

CUresult FreeGraphMemory(std::uintptr_t address, std::uint64_t bytes, Stream* stream) {
  const CUresult ended = EndAllocation(address);
  if (ended != CUDA_SUCCESS) return ended;
  TicketPtr ticket;
  const CUresult result = SubmitAfter(stream, FreeOp{address}, {}, &ticket);
  if (ticket != nullptr) MemoryEnds(address, bytes, ticket);
  return result;
}

void DeleteIfOver(MemoryPool* pool) {
  if (pool->destroyed && pool->live_blocks == 0 && pool->pending.empty()) {
    MemoryPools().Delete(pool);
  }
}

// What a free does in its stream: memory of another process is unmapped, ours goes back later.
Operation EndOf(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  const bool ours = block == nullptr || block->pool == nullptr || !block->pool->imported;
  if (ours) return EmptyOp{};
  const auto unmap = [](void* data) {
    const std::unique_ptr<MappedRegion> region(static_cast<MappedRegion*>(data));
    const EngineLock unmapping;
    UnmapRegion(*region);
  };
  return HostOp{unmap, new MappedRegion(block->region), HostCall::kEngine};
}

void Left(MemoryPool* pool) {
  --pool->live_blocks;
  DeleteIfOver(pool);
}

void NoticeDoneFrees(MemoryPool* pool) { pool->pending.ReturnDone(&pool->heap); }

// The types of handles that a pool's memory can have.
CUresult CheckSharing(const CUmemPoolProps& properties) {
  const unsigned types = properties.handleTypes;
  if (types == 0) return CUDA_SUCCESS;
  if (properties.location.type == CU_MEM_LOCATION_TYPE_HOST) return CUDA_ERROR_INVALID_VALUE;
  const bool managed = properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  const CUresult known = CheckHandleTypes(types);
  return known == CUDA_SUCCESS && managed ? CUDA_ERROR_NOT_SUPPORTED : known;
}

CUresult CheckProperties(const CUmemPoolProps& properties) {
  const auto* reserved = properties.reserved;
  const bool clean = std::all_of(reserved, reserved + sizeof(properties.reserved),
                                 [](unsigned char byte) { return byte == 0; });
  constexpr unsigned kDecompress = CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
  if (!clean || properties.win32SecurityAttributes != nullptr ||
      (properties.usage & ~kDecompress) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return properties.usage != 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

// Where a pool's memory is accessible from the start.
void SetFirstAccess(MemoryPool* pool) {
  const bool managed = pool->properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  for (std::size_t index = 0; index <= kHostAccess; ++index) {
    const bool own = pool->device == kHostDevice ? index == kHostAccess
                                                 : index == static_cast<std::size_t>(pool->device);
    if (own || managed) pool->access[index] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
}

}  // namespace

HandlePool<MemoryPool>& MemoryPools() {
  static auto& pool = *new HandlePool<MemoryPool>;
  return pool;
}

CUresult NewPool(const CUmemPoolProps& properties, MemoryPool** out) {
  PoolPlace place;
  const CUresult known = PoolPlaceOf(properties.location, properties.allocType, &place);
  if (known != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  const bool of_device =
      place.location == CU_MEM_LOCATION_TYPE_DEVICE && place.type == CU_MEM_ALLOCATION_TYPE_PINNED;
  CUresult allowed = CheckProperties(properties);
  if (allowed == CUDA_SUCCESS) allowed = CheckSharing(properties);
  if (allowed != CUDA_SUCCESS) return allowed;
  const EngineLock lock;
  *out = MemoryPools().New(of_device ? place.id : kHostDevice, properties);
  SetFirstAccess(*out);
  return CUDA_SUCCESS;
}

CUresult DestroyPool(MemoryPool* pool) {
  const EngineLock lock;
  if (IsDefaultPool(pool) || pool->destroyed) return CUDA_ERROR_INVALID_VALUE;
  SetDefaultInsteadOf(pool);
  pool->destroyed = true;
  NoticeDoneFrees(pool);
  DeleteIfOver(pool);
  return CUDA_SUCCESS;
}

CUresult SetPoolAccess(MemoryPool* pool, const CUmemAccessDesc* access, std::size_t count) {
  const EngineLock lock;
  CUmemAccess_flags wanted[kHostAccess + 1];
  std::copy(std::begin(pool->access), std::end(pool->access), wanted);
  const std::size_t own =
      pool->device == kHostDevice ? kHostAccess : static_cast<std::size_t>(pool->device);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t index = 0;
    const CUresult known = AccessIndex(access[i].location, &index);
    if (known != CUDA_SUCCESS || !IsAccess(access[i].flags)) return CUDA_ERROR_INVALID_VALUE;
    const bool reached = index == kHostAccess || access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                         ReachesDevice(static_cast<int>(index), pool->device);
    if (!reached) return CUDA_ERROR_INVALID_VALUE;
    wanted[index] = access[i].flags;
  }
  if (wanted[own] != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_INVALID_VALUE;
  std::copy(std::begin(wanted), std::end(wanted), pool->access);
  return CUDA_SUCCESS;
}

CUresult AllocateFromPool(MemoryPool* pool, Stream* stream, std::uint64_t bytes,
                          std::uintptr_t* out) {
  if (bytes == 0 || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  constexpr std::uint64_t kMostOnHost = UINT64_MAX / 2;  // sums of sizes stay within 64 bits
  const bool on_host = pool->device == kHostDevice;
  if (bytes > (on_host ? kMostOnHost : DeviceCapacity(pool->device))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
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

namespace {

// Its address may be given again as the policies of its pool say.
void KeepUntilFreed(const Allocation& found, Stream* stream, TicketPtr ticket) {
  const Allocation block = found;
  if (ticket != nullptr) {
    MemoryEnds(block.base, block.bytes, ticket);
  } else {
    MemoryEnds(block.base, block.bytes);
  }
  if (IsManaged(block)) ForgetAdvice(block.base, block.bytes);
  RemoveAllocation(block.base);
  if (!block.pool->imported)
    block.pool->pending.Add(block.base, block.held_bytes, stream->id, std::move(ticket));
  Left(block.pool);
}

}  // namespace

CUresult FreeInStream(std::uintptr_t address, Stream* stream) {
  AllocationType type{};
  std::uint64_t bytes = 0;
  {
    const EngineLock lock;
    const Allocation* block = AllocationAt(address);
    if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    type = block->type;
    bytes = block->bytes;
  }
  if (type == AllocationType::kGraph) return FreeGraphMemory(address, bytes, stream);
  if (type != AllocationType::kPooled) {
    if (type == AllocationType::kLinear || type == AllocationType::kManaged) WaitForStream(stream);
    return FreeDevice(address);
  }
  TicketPtr ticket;
  if (IsQueued()) {
    const CUresult result = Enqueue(stream, EndOf(address), {}, &ticket);
    if (result != CUDA_SUCCESS) return result;
  }
  const EngineLock lock;
  const Allocation* found = AllocationAt(address);
  if (found == nullptr || found->pool == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;  // another thread was faster
  }
  if (ticket == nullptr && (found->pool->imported || PolicyOf(*found->pool).opportunistic)) {
    Discard(address);
    return CUDA_SUCCESS;
  }
  KeepUntilFreed(*found, stream, std::move(ticket));
  return CUDA_SUCCESS;
}

void ReturnToPool(const Allocation& block) {
  MemoryPool* pool = block.pool;
  if (pool->imported) {
    UnmapRegion(block.region);
  } else {
    pool->heap.Free(block.base, block.held_bytes);
  }
  Left(pool);
}

void TrimPool(MemoryPool* pool, std::uint64_t keep) {
  const EngineLock lock;
  NoticeDoneFrees(pool);
  pool->heap.Trim(keep, keep);
  MemoryPools().ForEach([](MemoryPool* other) {
    if (other->destroyed) NoticeDoneFrees(other);
    DeleteIfOver(other);
  });
}

void TrimAtSynchronization(int device) {
  if (!any_pool_used.load(std::memory_order_acquire)) return;
  const EngineLock lock;
  MemoryPools().ForEach([&](MemoryPool* pool) {
    if (pool->device != device && pool->device != kHostDevice) return;
    NoticeDoneFrees(pool);
    pool->heap.Trim(pool->release_threshold);
    DeleteIfOver(pool);
  });
}

std::uint64_t UsedBytes(const MemoryPool& pool) {
  return pool.heap.used() - pool.pending.DoneBytes();
}

bool IsPoolMemory(std::uintptr_t address) {
  if (!any_pool_used.load(std::memory_order_acquire)) return false;
  const EngineLock lock;
  bool found = false;
  MemoryPools().ForEach([&](MemoryPool* pool) { found |= pool->heap.Contains(address); });
  return found;
}

}  // namespace cuheap::sim
