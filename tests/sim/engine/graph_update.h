// Changes of executable graphs: of one node, or of all by a graph of the same shape. Each is made
// on a copy that takes the place of the graph when all of it was allowed. Threads: callers hold the
// engine's lock.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

struct UpdateReport {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  GraphNode* node = nullptr;  // of the graph with the new parameters
  GraphNode* from = nullptr;  // the dependency of it that does not match
};

// Takes over the parameters of `graph`, whose nodes are paired with those of `exec` in the order of
// dependencies and else of addition.
UpdateReport UpdateExec(GraphExec* exec, const Graph& graph);

// By the node that `exec` was made from. INVALID_VALUE: `exec` has no such node, or it may not
// become that.
CUresult ChangeNode(GraphExec* exec, const GraphNode& original, NodeWork work);
CUresult ChangeChild(GraphExec* exec, const GraphNode& original, const Graph& child);
CUresult EnableNode(GraphExec* exec, const GraphNode& original, bool enabled);
CUresult IsNodeEnabled(const GraphExec& exec, const GraphNode& original, bool* out);

}  // namespace cuheap::sim
