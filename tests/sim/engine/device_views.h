// Where devices see write-combined memory: at an address of its own, beside the host's.
//
// Laws: 1. A view comes and goes with the host memory that it shows.
// Threads: any. A lock of its own, inside which no other is taken: the search for races asks with
// the queue lock held, where the engine's lock may not be taken any more.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

void AddDeviceView(std::uintptr_t view, std::uint64_t bytes, std::uintptr_t host);
void RemoveDeviceView(std::uintptr_t view);

// Names what lies in views by the host's addresses.
void NameByHostAddress(std::vector<TouchedRange>* ranges);

}  // namespace cuheap::sim
