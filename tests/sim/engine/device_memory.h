// Linear memory, and the end of memory of any kind. cuMemAlloc below 1 MiB is carved in units of
// 512 bytes from shared 2 MiB pages, larger requests take whole pages. Threads: every function
// takes the engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/context.h"

namespace cuheap::sim {

CUresult AllocateLinear(Context* context, std::uint64_t bytes, std::uintptr_t* out,
                        MemoryKind kind = MemoryKind::kLinear);
// At an address of 32 bits, for the oldest ABIs; whole pages.
CUresult AllocateBelow4GiB(Context* context, std::uint64_t bytes, std::uintptr_t* out);
// Linear, managed, pooled and graph memory alike, as cuMemFree does.
CUresult FreeDevice(std::uintptr_t address);
// Gives back one block of any type that is found in the table.
void Discard(std::uintptr_t base);
void DiscardAllOf(const Context* context);

}  // namespace cuheap::sim
