// Where device memory is seen in this process. Each device has a window as large as its memory,
// the file mapped once at its own offsets; an allocation of contiguous pages is a piece of the
// window (so neighbours share a kernel mapping and a freed address is reused soon). Anything else
// (scattered pages, virtual memory management, imports) is mapped piece by piece into a range of
// its own. What is not allocated is not accessible: a stray access ends in SIGSEGV.
//
// Below 4 GiB there is room for what the oldest ABIs ask for, whose addresses have 32 bits.
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

// The kernel refuses mappings beyond vm.max_map_count. Tests need not go that far: after `more`
// mappings made or opened to access from now on, all are refused. UINT64_MAX: no such limit.
void LimitMappings(std::uint64_t more);

// Shows `pages` from `offset` at `base`, inside a reservation. False: no more mappings, and nothing
// is changed.
[[nodiscard]] bool MapPages(const MappedRegion& region, std::uint64_t offset, Access access);
// Back to reserved. False: that would split a mapping and none is left; nothing is changed.
bool UnmapPages(std::uintptr_t base, std::uint64_t bytes);
[[nodiscard]] bool SetAccess(std::uintptr_t base, std::uint64_t bytes, Access access);
// Takes the latest SetAccess back, which needs no more mappings than there were.
void RestoreAccess(std::uintptr_t base, std::uint64_t bytes, Access access);

// Device memory, mapped and accessible. Nothing: out of memory (or of mappings).
std::optional<MappedRegion> MapNewRegion(int device, std::uint64_t bytes, MemoryKind kind);
std::optional<MappedRegion> MapExisting(PhysicalPtr pages);
std::optional<MappedRegion> MapBelow4GiB(PhysicalPtr pages);
void UnmapRegion(const MappedRegion& region);

// Anything that only the simulated devices may own.
bool IsDeviceAddress(std::uintptr_t address);
// Zeroes [base, base + bytes) of a region without touching its whole pages.
void PunchZeroes(const MappedRegion& region, std::uintptr_t base, std::uint64_t bytes);

}  // namespace cuheap::sim
