// Memory of allocation nodes.
//
// Laws: 1. An address is the node's from its making to the end of the last graph that has it, and
//          of the allocation if that was not freed until then.
//       2. Physical memory is taken by the first upload or launch that needs it. It stays with the
//          node, and after the node's end with the device for later graphs, until it is trimmed.
//       3. A trim takes what no launch that is queued or runs needs and no unfreed allocation has.
//       4. Whether memory may be used is settled twice: in the order of calls (allocated: launched
//          and not freed) and in the order of the work (present).
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/sim/engine/address_space.h"

namespace cuheap::sim {

struct Context;

struct GraphMemory {
  GraphMemory() = default;
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  int device = 0;
  std::uint64_t bytes = 0;  // as asked for
  MappedRegion region;      // its pages come and go
  CUmemPoolProps properties{};
  std::vector<CUmemAccessDesc> access;
  std::uint64_t owner = 0;  // the graph of its node
  bool freed_by_owner = false;
  bool freed_by_others = false;
  bool allocated = false;
  bool present = false;
  int launches = 0;  // that are queued or run
};

// INVALID_VALUE: no bytes. OUT_OF_MEMORY: more than the device has, or no addresses.
CUresult NewGraphMemory(const CUmemLocation& place, std::uint64_t bytes,
                        std::shared_ptr<GraphMemory>* out);
// Null: no node has memory that begins there.
std::shared_ptr<GraphMemory> GraphMemoryAt(std::uintptr_t base);

// Physical memory, if it has none. OUT_OF_MEMORY: it stays without.
CUresult ProvidePages(GraphMemory* memory);
// In the order of calls.
void BeginAllocation(const std::shared_ptr<GraphMemory>& memory, const Context* context);
// INVALID_VALUE: nothing that may be freed from outside its graph begins there.
CUresult EndAllocation(std::uintptr_t base);
bool IsAllocated(std::uintptr_t base);
// In the order of the work.
CUresult BeginOnDevice(std::uintptr_t base);
CUresult EndOnDevice(std::uintptr_t base);
bool IsPresent(std::uintptr_t base);

void TrimGraphMemory(int device);
// The context ends: what was allocated in it is freed, and the device trimmed.
void EndGraphMemoryOf(const Context* context, int device);

// Bytes of physical memory that nodes have now, and the most since it was forgotten.
std::uint64_t MappedGraphBytes(int device);
std::uint64_t MostMappedGraphBytes(int device);
void ForgetMostMapped(int device);

}  // namespace cuheap::sim
