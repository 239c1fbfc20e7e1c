// Handles of physical memory: what cuMemCreate makes and cuMemMap shows.
//
// Laws: 1. A handle lives while the program holds references to it or a mapping shows it; only the
//          first makes its value good for calls. A mapping's handle can be asked for again.
//       2. Its pages live as long.
// Threads: callers of FindHandle, BeginMapping and EndMapping hold the engine's lock, the rest
// takes it.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

struct PhysicalHandle {
  PhysicalPtr pages;
  CUmemAllocationProp properties{};
  int references = 1;  // of the program
  int mappings = 0;
};

// Whether memory can be shared by handles of all of `types`: by file descriptors, or not at all.
CUresult CheckHandleTypes(unsigned types);
// Whether memory can be made with `properties`, and where: a device, or kHostDevice.
CUresult PlaceOf(const CUmemAllocationProp& properties, int* device);
CUresult CreateHandle(std::uint64_t bytes, const CUmemAllocationProp& properties,
                      PhysicalHandle** out);
CUresult ReleaseHandle(CUmemGenericAllocationHandle handle);
// nullptr: the program holds no reference to such a handle.
PhysicalHandle* FindHandle(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle ValueOf(PhysicalHandle* handle);

// A mapping shows the handle, or shows it no longer.
void BeginMapping(PhysicalHandle* handle);
void EndMapping(PhysicalHandle* handle);

// A file descriptor that another process of the same device may turn into a handle. It holds the
// memory until its last copy is closed.
CUresult ExportHandle(PhysicalHandle* handle, int* fd);
CUresult ImportHandle(int fd, PhysicalHandle** out);

}  // namespace cuheap::sim
