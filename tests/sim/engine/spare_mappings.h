// Mappings of the kernel that are kept back: where the simulated devices may have no more of them
// (vm.max_map_count), malloc and unmapping still need a few.
//
// Laws: 1. A process that maps little keeps none back.
//       2. Once the kernel refused, the spare ones are let go, and no mapping is allowed until as
//          many could be kept back again.
// Threads: callers hold the engine's lock.
#pragma once

namespace cuheap::sim {

// Whether the devices may have one more.
bool MayMap();
// The kernel refused one.
void LetSpareMappingsGo();

}  // namespace cuheap::sim
