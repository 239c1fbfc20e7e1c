// Making executable graphs, and what must hold of a graph for that. Threads: callers hold the
// engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

struct InstantiateReport {
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  GraphNode* node = nullptr;
};
// INVALID_VALUE, with the report of why.
CUresult Instantiate(Graph* graph, std::uint64_t flags, GraphExec** out, InstantiateReport* report);

}  // namespace cuheap::sim
