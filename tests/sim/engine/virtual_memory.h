// Virtual memory management: reservations, and mappings of physical handles with access for each
// device and for the host; multicast objects among them (multicast_mapping.h).
//
// Laws: 1. Sizes and addresses of mappings are multiples of the granularity (2 MiB), those of
//          reservations of the host's page size.
//       2. A mapping lies inside one reservation and overlaps no other; only whole mappings unmap.
//       3. What nobody may access is not accessible here either; of several rights the widest one
//          is the protection that the process sees.
//       4. A call that fails changes nothing, also where it fails in the middle.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/physical_handle.h"

namespace cuheap::sim {

CUresult ReserveRange(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint,
                      std::uintptr_t* out);
CUresult FreeRange(std::uintptr_t base, std::uint64_t bytes);
struct Reservation {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
};
// No bytes: no reservation contains `address`.
Reservation ReservationOf(std::uintptr_t address);
// Inside one reservation, and nothing is mapped there.
bool IsUnmapped(std::uintptr_t base, std::uint64_t bytes);

CUresult MapHandle(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                   CUmemGenericAllocationHandle handle);
CUresult UnmapRange(std::uintptr_t base, std::uint64_t bytes);
CUresult SetRangeAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                        std::size_t count);
CUresult GetRangeAccess(std::uintptr_t address, const CUmemLocation& location,
                        unsigned long long* flags);

// The handle that a mapping shows. REQUIRES: `mapping` is one. Its program may have released it.
PhysicalHandle* HandleOfMapping(const Allocation& mapping);
CUresult RetainHandle(std::uintptr_t address, CUmemGenericAllocationHandle* out);

}  // namespace cuheap::sim
