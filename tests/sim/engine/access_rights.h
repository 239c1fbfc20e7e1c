// Who may access a piece of memory, as far as the driver keeps account of it.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "tests/sim/engine/allocation_table.h"

namespace cuheap::sim {

// Memory that lies on the host, whoever allocated it: pinned, registered, of a pool or a handle.
bool IsHostMemory(const Allocation& block);
// Migrates: it is on the host and on devices.
bool IsManaged(const Allocation& block);

// Where in Allocation::access the rights of a location stand. INVALID_DEVICE, or INVALID_VALUE for
// types that have no rights.
CUresult AccessIndex(const CUmemLocation& location, std::size_t* index);
bool IsAccess(CUmemAccess_flags flags);

// CUmemAccess_flags of a device, or of the host at kHostAccess. Peers whose access was enabled are
// not looked at.
unsigned AccessOf(const Allocation& block, std::size_t index);

}  // namespace cuheap::sim
