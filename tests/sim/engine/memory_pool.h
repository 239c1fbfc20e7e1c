// Stream-ordered memory pools. Freed memory stays reserved; at a synchronisation whatever exceeds
// the release threshold goes back to where it came from, segment by segment.
//
// Law: a destroyed pool lives until its last block is freed and the last of these frees is done and
//      was noticed (at a synchronisation, or where a pool is trimmed).
// Threads: every function takes the engine's lock, and none that has a stream may be called under
// it. Callers of UsedBytes(const MemoryPool&) hold it.
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

  const int device;  // kHostDevice: of host memory, managed memory included
  const CUmemPoolProps properties;
  SegmentedHeap heap;
  PendingFrees pending;
  std::uint64_t release_threshold = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
  int reuse[4] = {0, 1, 1, 1};                     // by CU_MEMPOOL_ATTR_REUSE_*
  CUmemAccess_flags access[kHostAccess + 1] = {};  // by device, and of the host
  std::uint64_t live_blocks = 0;
  std::uint64_t shared_id = 0;  // between processes (pool_sharing.h); 0: never exported
  bool imported = false;        // of another process: hands nothing out
  bool destroyed = false;       // lives on until its last block is freed
};

HandlePool<MemoryPool>& MemoryPools();
CUresult NewPool(const CUmemPoolProps& properties, MemoryPool** out);
CUresult DestroyPool(MemoryPool* pool);
// All locations are valid, or nothing is changed. What a pool's own place may access stays so.
CUresult SetPoolAccess(MemoryPool* pool, const CUmemAccessDesc* access, std::size_t count);

// In a stream: the block is the stream's from now on.
CUresult AllocateFromPool(MemoryPool* pool, Stream* stream, std::uint64_t bytes,
                          std::uintptr_t* out);
// In a stream, a block of a pool. Other memory ends when the stream's work so far is done.
// INVALID_VALUE: there is none at `address`.
CUresult FreeInStream(std::uintptr_t address, Stream* stream);
// At once.
void ReturnToPool(const Allocation& block);
// Gives back what can be, down to `keep` bytes and not below.
void TrimPool(MemoryPool* pool, std::uint64_t keep);
void TrimAtSynchronization(int device);
// Memory of a pool, handed out or not.
bool IsPoolMemory(std::uintptr_t address);
// In blocks whose free is not done.
std::uint64_t UsedBytes(const MemoryPool& pool);

}  // namespace cuheap::sim
