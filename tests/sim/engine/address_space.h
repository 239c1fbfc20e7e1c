// Where device memory is seen in this process. Each device has a window as large as its memory,
// the file mapped once at its own offsets; an allocation of contiguous pages is a piece of the
// window (so neighbours share a kernel mapping and a freed address is reused soon). Anything else
// (scattered pages, virtual memory management, imports) is mapped piece by piece into a range of
// its own. What is not allocated is not accessible: a stray access ends in SIGSEGV.
//
// Kernels compute nothing here, so code of the process may read and write device addresses.
// Threads: callers hold the engine's lock.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

enum class Access { kNone, kRead, kReadWrite };

struct MappedRegion {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  PhysicalPtr pages;
};

bool OpenAddressSpace();

// Address space only; aligned to `alignment`, a power of two of at least a page. 0: refused.
std::uintptr_t ReserveAddresses(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint);
void ReturnAddresses(std::uintptr_t base, std::uint64_t bytes);

// Shows `pages` from `offset` at `base`, inside a reservation. False: no more mappings.
[[nodiscard]] bool MapPages(const MappedRegion& region, std::uint64_t offset, Access access);
// Back to reserved.
void UnmapPages(std::uintptr_t base, std::uint64_t bytes);
[[nodiscard]] bool SetAccess(std::uintptr_t base, std::uint64_t bytes, Access access);

// Device memory, mapped and accessible. Nothing: out of memory (or of mappings).
std::optional<MappedRegion> MapNewRegion(int device, std::uint64_t bytes, MemoryKind kind);
std::optional<MappedRegion> MapExisting(PhysicalPtr pages);
void UnmapRegion(const MappedRegion& region);

// Anything that only the simulated devices may own.
bool IsDeviceAddress(std::uintptr_t address);
// Zeroes [base, base + bytes) of a region without touching its whole pages.
void PunchZeroes(const MappedRegion& region, std::uintptr_t base, std::uint64_t bytes);

}  // namespace cuheap::sim
