// Graphs: nodes with dependencies, copies of them that can run, and user objects they keep alive.
// What copies is in graph_copy.h, what changes executable graphs in graph_update.h, what runs them
// in graph_launch.h.
//
// Laws: 1. A graph is named by its owner: the application, a child node, a conditional node.
//       2. A node of a copy knows the node that it was made from, however often it was copied.
//       3. An executable graph is never changed: an update puts another one in its place, so that
//          launches that are queued or run stay as they were.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <vector>

#include "tests/sim/engine/generations.h"
#include "tests/sim/engine/graph_edges.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/memory_place.h"
#include "tests/sim/engine/operation.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

struct ConditionalHandle;
struct Context;

struct UserObject {
  CUhostFn destroy = nullptr;
  void* data = nullptr;
  unsigned references = 0;
};

using KernelAttributes = std::map<CUlaunchAttributeID, CUlaunchAttributeValue>;

// What a node does, and the context that it does it in; null: the one that it is launched in.
struct NodeWork {
  Operation operation;
  Context* context = nullptr;
};

struct GraphNode {
  Graph* graph = nullptr;
  Operation operation;
  Context* context = nullptr;  // as NodeWork
  Dependencies after;
  std::uint64_t id = 0;      // never repeats
  std::uint64_t origin = 0;  // the node that this one was copied from; 0: none
  bool enabled = true;       // of an executable graph
  MemoryPlaces places;       // of an executable graph: where its memory was when it was told
  Generations memory;        // what it named when it was told
  KernelAttributes attributes;
};

enum class GraphPlace { kOwn, kChild, kMovedChild, kBody };

struct Graph {
  std::uint64_t id = 0;      // never repeats
  std::uint64_t origin = 0;  // the graph that this one was copied from; 0: none
  GraphPlace place = GraphPlace::kOwn;
  std::vector<GraphNode*> nodes;
  std::vector<std::shared_ptr<ConditionalHandle>> handles;
  std::map<UserObject*, unsigned> objects;
  std::shared_ptr<Graph> self;   // set while the application owns a handle
  std::weak_ptr<void> instance;  // the executable graph, where there may be one only
  int captures = 0;              // that go on and put nodes into it
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
};

struct GraphExec {
  std::shared_ptr<Graph> graph;  // nodes in an order that respects dependencies
  std::uint64_t flags = 0;
  std::shared_ptr<void> instance;
  TicketPtr last;  // the launch that the next one comes after
};

HandlePool<GraphNode>& Nodes();
HandlePool<GraphExec>& Execs();
HandlePool<UserObject>& UserObjects();

// Handles of graphs that the application may name: its own, and those inside nodes.
Graph* FindGraph(CUgraph handle);
std::shared_ptr<Graph> NewGraph();
void DestroyGraph(Graph* graph);
bool AreNodesOf(const Graph* graph, const std::vector<GraphNode*>& nodes);
// A node that nothing checks, at the end.
GraphNode* AppendNode(Graph* graph, NodeWork work);

// INVALID_VALUE: a dependency is not a node of `graph`, or no such edge leads from it; the graph
// may not have such a node (a body, a child), or not free this memory.
CUresult AddNode(Graph* graph, Dependencies after, NodeWork work, GraphNode** out);
// INVALID_VALUE: the graph has memory nodes, or is captured into; so is a graph inside the node.
CUresult RemoveNode(GraphNode* node);
// REQUIRES: the same type of node. Where `work` names no context, the node's stays.
void TakeWork(GraphNode* node, NodeWork work);

// In the graph or those inside its nodes.
bool HasMemoryNodes(const Graph& graph);
bool HasConditionals(const Graph& graph);
// One executable graph of it at a time.
bool MayHaveOneOnly(const Graph& graph);
bool IsInside(const Graph& inner, const Graph& outer);
// The graphs directly inside a node.
std::vector<Graph*> GraphsInside(const Operation& operation);
// Every node of a graph and of those inside it.
template <class Visit>
void ForEachNode(const Graph& graph, Visit visit) {
  for (GraphNode* node : graph.nodes) {
    visit(node);
    for (const Graph* inside : GraphsInside(node->operation)) ForEachNode(*inside, visit);
  }
}
// Whether a capture puts nodes into it, or into a graph inside its nodes.
bool IsCapturedInto(const Graph& graph);
// What may stand in the body of a conditional node.
bool FitsBody(const Graph& graph);

void ReleaseUserObject(UserObject* object, unsigned count);

}  // namespace cuheap::sim
