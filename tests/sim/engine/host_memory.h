// Memory of the process's own that the driver knows: pinned, registered and managed.
//
// Laws: 1. Devices see pinned memory at its own address, but write-combined memory at another one,
//          its device view, which comes and goes with it.
//       2. The same bytes are there at both; the search for races knows them by the host's address.
// Threads: functions take the engine's lock, unless they say REQUIRES.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/context.h"

namespace cuheap::sim {

// Whether the process has something there: the kernel says so without touching it. Takes no lock.
bool IsMapped(std::uintptr_t address, std::uint64_t bytes);

CUresult AllocateManaged(Context* context, std::uint64_t bytes, unsigned flags,
                         std::uintptr_t* out);
// Belongs to no context, and is not freed by its address.
CUresult AllocateManagedVariable(std::uint64_t bytes, std::uintptr_t* out);
CUresult AllocateHost(Context* context, std::uint64_t bytes, unsigned flags, void** out);
CUresult FreeHost(std::uintptr_t address);
// INVALID_VALUE: of nothing, of device memory, or mapped read-only without READ_ONLY.
// NOT_SUPPORTED: I/O memory.
CUresult RegisterHost(Context* context, std::uintptr_t address, std::uint64_t bytes,
                      unsigned flags);
CUresult UnregisterHost(std::uintptr_t address);

// Where devices, and where the host, see an address inside `block`. REQUIRES: the engine's lock.
std::uintptr_t DeviceAddressIn(const Allocation& block, std::uintptr_t address);
std::uintptr_t HostAddressIn(const Allocation& block, std::uintptr_t address);

// What Discard does with memory from here; a device view goes too. REQUIRES: the engine's lock, and
// that `block` is in the table no more.
void ReturnHostPages(const Allocation& block);

}  // namespace cuheap::sim
