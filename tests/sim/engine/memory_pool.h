// Stream-ordered memory pools. Freed memory stays reserved; at a synchronisation whatever exceeds
// the release threshold goes back to the device, segment by segment.
// Threads: every function takes the engine's lock, and none that has a stream may be called under
// it.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/pending_frees.h"
#include "tests/sim/engine/segmented_heap.h"

namespace cuheap::sim {

struct MemoryPool {
  static constexpr std::uint64_t kSegment = 32ULL << 20;

  MemoryPool(int on_device, const CUmemPoolProps& with)
      : device(on_device), properties(with), heap(on_device, MemoryKind::kPool, kSegment) {}

  const int device;
  const CUmemPoolProps properties;
  SegmentedHeap heap;
  PendingFrees pending;
  std::uint64_t release_threshold = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
  int reuse[4] = {0, 1, 1, 1};  // by CU_MEMPOOL_ATTR_REUSE_*
  CUmemAccess_flags access[kMaxDevices] = {};
  std::uint64_t live_blocks = 0;
  bool destroyed = false;  // lives on until its last block is freed
};

HandlePool<MemoryPool>& MemoryPools();
MemoryPool* DefaultPool(int device);
MemoryPool* CurrentPool(int device);
CUresult SetCurrentPool(int device, MemoryPool* pool);
CUresult NewPool(const CUmemPoolProps& properties, MemoryPool** out);
CUresult DestroyPool(MemoryPool* pool);

// In a stream: the block is the stream's from now on.
CUresult AllocateFromPool(MemoryPool* pool, Stream* stream, std::uint64_t bytes,
                          std::uintptr_t* out);
// In a stream, a block of a pool. INVALID_VALUE: there is none at `address`.
CUresult FreeInStream(std::uintptr_t address, Stream* stream);
// At once.
void ReturnToPool(const Allocation& block);
void TrimAtSynchronization(int device);
// Memory of a pool, handed out or not.
bool IsPoolMemory(std::uintptr_t address);
CUresult SetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, const void* value);
CUresult GetPoolAttribute(MemoryPool* pool, CUmemPool_attribute attribute, void* value);

}  // namespace cuheap::sim
