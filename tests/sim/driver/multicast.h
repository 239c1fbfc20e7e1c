// What other calls share with those of multicast objects.
#pragma once

#include <cuda.h>

namespace cuheap::sim {

// Until all devices were added, as binds and mappings do. INVALID_VALUE: there is no such object,
// or it ended meanwhile. REQUIRES: the engine's lock is not held.
CUresult WaitForTeam(CUmemGenericAllocationHandle handle);

}  // namespace cuheap::sim
