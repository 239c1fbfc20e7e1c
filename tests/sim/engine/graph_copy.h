// Copies of graphs: clones, child graphs, executable graphs.
// Threads: callers hold the engine's lock.
#pragma once

#include <memory>
#include <vector>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

// Nodes so that each comes after its dependencies and else as they were added; fewer than the graph
// has where it has a cycle.
std::vector<GraphNode*> Ordered(const Graph& graph);
// A node on a cycle, of the graph or of one inside it; null: there is none.
GraphNode* NodeOnCycle(const Graph& graph);

// What nodes of a copy say they were made from.
enum class Origin {
  kTheseNodes,  // the nodes of `graph`
  kTheirs,      // what the nodes of `graph` were made from: a copy in place of another
};
// Graphs inside nodes are copied too; memory and conditional handles are not. Null: a cycle.
std::shared_ptr<Graph> CopyGraph(const Graph& graph, Origin origin = Origin::kTheseNodes);
Operation CopyOperation(const Operation& operation, Origin origin);

// The node that was copied from `original`, in the graph or in one inside its nodes. Null: none.
GraphNode* FindCopy(const Graph& graph, const GraphNode& original);

}  // namespace cuheap::sim
