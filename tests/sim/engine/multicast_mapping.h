// Addresses where multicast objects are mapped. What is written there goes to the memory of every
// member; nobody can read there, neither here nor with ordinary instructions on a device.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/sim/engine/multicast.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// INVALID_VALUE: not inside one reservation, not free, or not all devices were added.
CUresult MapMulticast(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                      MulticastHandle* handle);
// Whether `address` lies in such a mapping. REQUIRED of the rest.
bool IsMulticastMapping(std::uintptr_t address);
CUresult UnmapMulticast(std::uintptr_t base, std::uint64_t bytes);
CUresult SetMulticastAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                            std::size_t count);
CUresult GetMulticastAccess(std::uintptr_t address, const CUmemLocation& location,
                            unsigned long long* flags);
CUmemGenericAllocationHandle RetainMulticast(std::uintptr_t address);

// Where the writes among `ranges` go, as distances from them: 0 if they are in no such mapping,
// nowhere if a member has no memory bound to a part of them. REQUIRES: they are in one allocation.
std::vector<std::uintptr_t> MulticastTargets(const std::vector<TouchedRange>& ranges);

}  // namespace cuheap::sim
