// Addresses where multicast objects are mapped. What is written there goes to the memory of every
// member; nobody can read there, neither here nor with ordinary instructions on a device.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/multicast.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// INVALID_VALUE: not inside one reservation, not free, or not all devices were added.
CUresult MapMulticast(std::uintptr_t base, std::uint64_t bytes, MulticastHandle* handle);
bool IsMulticast(const Allocation& block);
// REQUIRES of these: such a mapping. Its object; whether a device of this number is in the team;
// its end; a reference to its handle.
const MulticastObject& ObjectAt(const Allocation& mapping);
bool HasMember(const Allocation& mapping, std::size_t device);
void EndMulticastMapping(std::uintptr_t base);
CUmemGenericAllocationHandle RetainMulticast(const Allocation& mapping);

// Where the writes among `ranges` go, as distances from them: 0 if they are in no such mapping,
// nowhere if a member has no memory bound to a part of them. REQUIRES: they are in one allocation.
std::vector<std::uintptr_t> MulticastTargets(const std::vector<TouchedRange>& ranges);

}  // namespace cuheap::sim
