// Conditional nodes: their handles, whose values decide what runs, and the graphs of their bodies.
//
// Laws: 1. A handle belongs to the graph that it was made for, and goes with it.
//          A node in that graph, or in one inside it, may have it.
//       2. A value is written in the order of the work: by a default at the beginning of a run of
//          the handle's graph, and by what stands for kernels (SetConditionalOp).
// Threads: values are atomic; the rest is guarded by the engine's lock.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

struct Context;

struct ConditionalHandle {
  CUgraphConditionalHandle id = 0;
  std::uint64_t graph = 0;  // which it was made for
  Context* context = nullptr;
  unsigned initial = 0;
  bool assigns_initial = false;
  std::atomic<unsigned> value{0};
};

struct Conditional {
  std::shared_ptr<ConditionalHandle> handle;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> body_handles;  // what the interface calls phGraph_out

  // The body that `value` selects; null: none.
  const std::shared_ptr<Graph>* BodyFor(unsigned value) const;
};

// The values that one operation writes, one each time that it is done; after the last it begins
// with the first again.
struct ConditionalWrites {
  std::shared_ptr<ConditionalHandle> handle;
  std::vector<unsigned> values;
  std::atomic<std::size_t> done{0};
};

ConditionalHandle* NewConditionalHandle(Graph* graph, Context* context, unsigned initial,
                                        bool assigns_initial);
// Null: no such handle, or its graphs are gone.
std::shared_ptr<ConditionalHandle> FindConditionalHandle(CUgraphConditionalHandle id);

// INVALID_VALUE: the handle is not of this context, or a node of the type has no such size.
CUresult MakeConditional(std::shared_ptr<ConditionalHandle> handle, const Context* context,
                         CUgraphConditionalNodeType type, unsigned size, ConditionalOp* out);
CUresult WriteNext(ConditionalWrites* writes);

}  // namespace cuheap::sim
