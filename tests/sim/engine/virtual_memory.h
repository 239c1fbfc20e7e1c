// Virtual memory management: reservations, physical handles, mappings with access per device.
//
// Laws: 1. Sizes, offsets and addresses are multiples of the granularity (2 MiB).
//       2. A mapping lies inside one reservation and overlaps no other; only whole mappings unmap.
//       3. Pages live while a handle or a mapping holds them.
//       4. What no device may access is not accessible here either; of several rights the widest
//          one is the protection that the process sees.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

struct PhysicalHandle {
  PhysicalPtr pages;
  CUmemAllocationProp properties{};
  int references = 1;
};

CUresult ReserveRange(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint,
                      std::uintptr_t* out);
CUresult FreeRange(std::uintptr_t base, std::uint64_t bytes);
CUresult CreateHandle(std::uint64_t bytes, const CUmemAllocationProp& properties,
                      PhysicalHandle** out);
CUresult ReleaseHandle(CUmemGenericAllocationHandle handle);
PhysicalHandle* FindHandle(CUmemGenericAllocationHandle handle);
CUresult RetainHandle(std::uintptr_t address, CUmemGenericAllocationHandle* out);

CUresult MapHandle(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                   PhysicalHandle* handle);
CUresult UnmapRange(std::uintptr_t base, std::uint64_t bytes);
CUresult SetRangeAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                        std::size_t count);
CUresult GetRangeAccess(std::uintptr_t address, const CUmemLocation& location,
                        unsigned long long* flags);

// A file descriptor that another process of the same device may turn into a handle.
CUresult ExportHandle(PhysicalHandle* handle, int* fd);
CUresult ImportHandle(int fd, PhysicalHandle** out);

}  // namespace cuheap::sim
