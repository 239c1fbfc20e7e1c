// Every range of memory the driver knows in this process, by address: the independent list that
// tests compare with what others believe. Threads: callers hold the engine's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "tests/sim/engine/address_space.h"

namespace cuheap::sim {

struct Context;
struct MemoryPool;

// The host's place among the rights of a mapping, after the devices.
inline constexpr std::size_t kHostAccess = kMaxDevices;

enum class AllocationType {
  kLinear,      // cuMemAlloc
  kManaged,     // cuMemAllocManaged: host pages, not charged to a device
  kHost,        // cuMemHostAlloc
  kDeviceView,  // of write-combined memory: where devices see it
  kRegistered,  // cuMemHostRegister
  kMapping,     // cuMemMap
  kPooled,      // cuMemAllocAsync
  kGraph,       // memory of a graph's allocation node
  kImported,    // cuIpcOpenMemHandle
  kStatic,      // module globals
  kArray,       // arrays
  kArrayRange,  // addresses of a sparse array or one with deferred mapping
  kExternal,    // a buffer in imported memory
  kExternalArray,
  kMulticast,  // cuMemMap of a multicast object
};

struct Allocation {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;  // as asked for
  AllocationType type = AllocationType::kLinear;
  int device = 0;  // or kHostDevice
  Context* context = nullptr;
  unsigned flags = 0;
  MappedRegion region;           // what backs it; no pages: the process's own memory
  std::uint64_t held_bytes = 0;  // of a shared segment (linear, pooled, static)
  MemoryPool* pool = nullptr;
  std::uint64_t buffer_id = 0;    // never repeats in a process
  std::uintptr_t other_side = 0;  // of write-combined memory and its device view: each other
  bool sync_memops = false;
  bool declared = false;                      // a variable of a module: not cuMemFree's to free
  std::uint8_t access[kMaxDevices + 1] = {};  // of a mapping: CUmemAccess_flags
};

// Sets buffer_id. Memory made in a green context is the primary one's.
Allocation& AddAllocation(Allocation allocation);
void RemoveAllocation(std::uintptr_t base);
// The allocation that contains `address`, or nullptr.
Allocation* FindAllocation(std::uintptr_t address);
// The one that begins at `base`, or nullptr.
Allocation* AllocationAt(std::uintptr_t base);
// The allocations in which [base, base + bytes) lies, one behind the other: visit(block, where it
// is met, bytes met of it) says whether to go on. False: it said no, or a gap came first.
template <class Visit>
bool WalkAllocations(std::uintptr_t base, std::uint64_t bytes, Visit visit) {
  while (bytes > 0) {
    Allocation* block = FindAllocation(base);
    if (block == nullptr) return false;
    const std::uint64_t part = std::min(bytes, block->base + block->bytes - base);
    if (!visit(*block, base, part)) return false;
    base += part;
    bytes -= part;
  }
  return true;
}
std::map<std::uintptr_t, Allocation>& AllAllocations();

}  // namespace cuheap::sim
