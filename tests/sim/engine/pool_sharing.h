// Pools that other processes see. A descriptor names a pool; the process that imports it gets a
// pool which hands nothing out but shows, one by one, blocks that the exporter allocated.
//
// Laws: 1. An imported block shows the bytes of its maker and is charged to it.
//       2. The pages under it stay until the last process lets go of them, whoever frees first.
//       3. An imported pool is open to its own device only until its importer says otherwise.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {

// INVALID_VALUE: the pool was not made for it.
CUresult ExportPool(MemoryPool* pool, int* fd);
CUresult ImportPool(int fd, MemoryPool** out);
// Of the base of a block, once its pool was exported.
CUresult ExportPoolBlock(std::uintptr_t address, CUmemPoolPtrExportData* out);
CUresult ImportPoolBlock(MemoryPool* pool, const CUmemPoolPtrExportData& data, std::uintptr_t* out);

}  // namespace cuheap::sim
