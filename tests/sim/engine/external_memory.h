// Memory that another interface made and handed over as a file descriptor. Nothing is charged: it
// was paid for where it was made.
//
// Laws: 1. A descriptor that was imported belongs to the import, and is closed with it.
//       2. What was mapped stays mapped when the import is destroyed: buffers until cuMemFree,
//          arrays until they are destroyed.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/sim/engine/array.h"
#include "tests/sim/engine/context.h"

namespace cuheap::sim {

struct ExternalMemory {
  int file = -1;
  std::uint64_t bytes = 0;
};

// INVALID_VALUE: no memory of so many bytes behind the descriptor.
CUresult ImportFile(int file, std::uint64_t bytes, ExternalMemory** out);
ExternalMemory* FindExternalMemory(CUexternalMemory handle);
void DestroyExternalMemory(ExternalMemory* memory);

CUresult MapBuffer(Context* context, const ExternalMemory& memory, std::uint64_t offset,
                   std::uint64_t bytes, std::uintptr_t* out);
// The whole rest of the memory behind `offset`, to put arrays in.
CUresult MapStorage(Context* context, const ExternalMemory& memory, std::uint64_t offset,
                    ArrayStoragePtr* out);

}  // namespace cuheap::sim
