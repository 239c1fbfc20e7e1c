// The backend (graph) interface of cuDNN, as far as a stand-in must know it: descriptors that hold
// attributes, and what an execution plan touches, found by following its descriptors to the tensors
// of its operations.
// Laws: 1. A descriptor that another one was given lives as long as that one.
//       2. Of the tensors of a plan, those count that the variant pack has an address for: neither
//          virtual nor passed by value. Ragged ones are not named, their extent is in device
//          memory.
// Threads: handles may be used by several threads, each descriptor by one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tests/sim/standins/standin.h"
#include "tests/sim/standins/touched.h"

namespace cuheap::sim_standin {

struct GraphDescriptor {
  int type = 0;
  std::map<int, std::vector<std::int64_t>> numbers;  // those of 8 bytes, flags, enumerations
  std::map<int, std::vector<void*>> pointers;
  std::map<int, std::vector<std::shared_ptr<GraphDescriptor>>> descriptors;

  std::int64_t Number(int attribute, std::int64_t otherwise) const;
};
using GraphDescriptorPtr = std::shared_ptr<GraphDescriptor>;

Handle NewGraphDescriptor(int type);
void DeleteGraphDescriptor(Handle handle);
GraphDescriptorPtr FindGraphDescriptor(Handle handle);  // null: there is none

// What a plan touches with the addresses of a variant pack.
Touched TouchedByPlan(const GraphDescriptor& plan, const GraphDescriptor& pack,
                      std::uint64_t workspace_bytes);

}  // namespace cuheap::sim_standin
