// What a program has advised about its managed memory, page by page of the host. Nothing migrates
// here: the memory lies on the host, and advice is remembered for who asks.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace cuheap::sim {

struct ManagedAdvice {
  bool read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
  CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, 0};
  std::uint32_t accessed_by = 0;  // by bit: devices, and the host at kHostAccess
};

// Inside one piece of managed memory, and not empty.
bool IsManagedRange(std::uintptr_t base, std::uint64_t bytes);
// REQUIRES of these: such a range.
void Advise(std::uintptr_t base, std::uint64_t bytes,
            const std::function<void(ManagedAdvice*)>& change);
// Of each part that may differ from the next; at least one.
std::vector<ManagedAdvice> AdviceOf(std::uintptr_t base, std::uint64_t bytes);
// The memory ends.
void ForgetAdvice(std::uintptr_t base, std::uint64_t bytes);

}  // namespace cuheap::sim
