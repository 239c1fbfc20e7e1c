// Graphs: nodes with dependencies, copies of them that can run, and user objects they keep alive.
// Threads: callers hold the engine's lock, except RunGraph.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <vector>

#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

struct UserObject {
  CUhostFn destroy = nullptr;
  void* data = nullptr;
  unsigned references = 0;
};

struct GraphNode {
  Graph* graph = nullptr;
  Operation operation;
  std::vector<GraphNode*> after;  // what it depends on
};

struct Graph {
  std::vector<GraphNode*> nodes;
  std::map<UserObject*, unsigned> objects;
  std::shared_ptr<Graph> self;  // set while the application owns a handle
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
};

struct GraphExec {
  std::shared_ptr<Graph> graph;  // nodes in an order that respects dependencies
  std::uint64_t flags = 0;
};

HandlePool<GraphNode>& Nodes();
HandlePool<GraphExec>& Execs();
HandlePool<UserObject>& UserObjects();

// Handles of graphs that the application may name: its own, and those inside child nodes.
Graph* FindGraph(CUgraph handle);
std::shared_ptr<Graph> NewGraph();
std::shared_ptr<Graph> CloneGraph(const Graph& graph);
void DestroyGraph(Graph* graph);

// INVALID_VALUE: a dependency is not a node of `graph`, or is named twice.
CUresult AddNode(Graph* graph, std::vector<GraphNode*> after, Operation operation, GraphNode** out);
void RemoveNode(GraphNode* node);
CUresult MakeAllocOp(int device, std::uint64_t bytes, AllocOp* out);

// Null: the graph has a cycle.
GraphExec* Instantiate(Graph* graph, std::uint64_t flags);
// Takes over the parameters of `graph`, which must have the same shape.
CUgraphExecUpdateResult UpdateExec(GraphExec* exec, Graph* graph, GraphNode** culprit);
CUresult RunGraph(const Graph& graph);
void ReleaseUserObject(UserObject* object, unsigned count);

}  // namespace cuheap::sim
