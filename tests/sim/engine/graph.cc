#include "tests/sim/engine/graph.h"

#include <algorithm>
#include <set>

#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/program_code.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

std::set<Graph*>& LivingGraphs() {
  static auto& set = *new std::set<Graph*>;
  return set;
}

bool IsMemoryNode(const Operation& operation) {
  return std::holds_alternative<AllocOp>(operation) || std::holds_alternative<FreeOp>(operation);
}

// Whether any node of the graph, or of a graph inside it, is what `is` asks for.
template <class Predicate>
bool AnyNode(const Graph& graph, Predicate is) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode* node) {
    const std::vector<Graph*> inside = GraphsInside(node->operation);
    return is(node->operation) || std::any_of(inside.begin(), inside.end(), [&](const Graph* each) {
             return AnyNode(*each, is);
           });
  });
}

bool HasCapturedInside(const Operation& operation) {
  const std::vector<Graph*> inside = GraphsInside(operation);
  return std::any_of(inside.begin(), inside.end(),
                     [](const Graph* graph) { return IsCapturedInto(*graph); });
}

bool FitsBody(const Operation& operation) {
  if (const auto* child = std::get_if<ChildOp>(&operation)) return FitsBody(*child->graph);
  switch (NodeTypeOf(operation)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return true;
    default:
      return false;
  }
}

bool MayHave(const Graph& graph, const Operation& operation) {
  switch (graph.place) {
    case GraphPlace::kOwn:
      return true;
    case GraphPlace::kBody:
      return FitsBody(operation);
    case GraphPlace::kChild:
    case GraphPlace::kMovedChild:
      return !IsMemoryNode(operation) && !std::holds_alternative<ConditionalOp>(operation);
  }
  return false;
}

// Memory is freed once in its own graph, or from outside of it, never both.
bool MayFree(const Graph& graph, std::uintptr_t address) {
  const auto memory = GraphMemoryAt(address);
  if (memory == nullptr || memory->freed_by_owner) return false;
  const bool twice = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto* node) {
    const auto* free = std::get_if<FreeOp>(&node->operation);
    return free != nullptr && free->address == address;
  });
  return !twice && !(memory->owner == graph.id && memory->freed_by_others);
}

// The handle of a conditional node is of this graph, or of one around it.
bool MayUseHandle(const Graph& graph, const Operation& operation) {
  const auto* conditional = std::get_if<ConditionalOp>(&operation);
  if (conditional == nullptr) return true;
  const std::uint64_t owner = conditional->node->handle->graph;
  return std::any_of(LivingGraphs().begin(), LivingGraphs().end(), [&](const Graph* other) {
    return other->id == owner && (other == &graph || IsInside(graph, *other));
  });
}

void TieMemory(const Graph& graph, Operation* operation) {
  if (const auto* allocation = std::get_if<AllocOp>(operation)) {
    allocation->memory->owner = graph.id;
  } else if (auto* free = std::get_if<FreeOp>(operation)) {
    const auto memory = GraphMemoryAt(free->address);
    free->bytes = memory->bytes;
    (memory->owner == graph.id ? memory->freed_by_owner : memory->freed_by_others) = true;
  }
}

}  // namespace

HandlePool<GraphNode>& Nodes() {
  static auto& pool = *new HandlePool<GraphNode>;
  return pool;
}
HandlePool<GraphExec>& Execs() {
  static auto& pool = *new HandlePool<GraphExec>;
  return pool;
}
HandlePool<UserObject>& UserObjects() {
  static auto& pool = *new HandlePool<UserObject>;
  return pool;
}

Graph* FindGraph(CUgraph handle) {
  const auto found = LivingGraphs().find(reinterpret_cast<Graph*>(handle));
  return found == LivingGraphs().end() ? nullptr : *found;
}

std::shared_ptr<Graph> NewGraph() {
  static std::uint64_t next = 1;
  auto graph = std::make_shared<Graph>();
  graph->id = next++;
  LivingGraphs().insert(graph.get());
  return graph;
}

Graph::~Graph() {
  const EngineLock lock;
  LivingGraphs().erase(this);
  for (GraphNode* node : nodes) Nodes().Delete(node);
  for (const auto& [object, count] : objects) ReleaseUserObject(object, count);
}

void DestroyGraph(Graph* graph) {
  const std::shared_ptr<Graph> last = std::move(graph->self);
  graph->self = nullptr;
}

GraphNode* AppendNode(Graph* graph, NodeWork work) {
  static std::uint64_t next = 1;
  GraphNode* node = Nodes().New();
  node->graph = graph;
  node->operation = std::move(work.operation);
  node->context = work.context;
  node->id = next++;
  node->memory = GenerationsOf(TouchedRanges(node->operation));
  graph->nodes.push_back(node);
  return node;
}

bool AreNodesOf(const Graph* graph, const std::vector<GraphNode*>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const GraphNode* node) {
    return Nodes().Find(node) != nullptr && node->graph == graph;
  });
}

CUresult AddNode(Graph* graph, Dependencies after, NodeWork work, GraphNode** out) {
  Operation& operation = work.operation;
  if (!AreNodesOf(graph, after.nodes())) return CUDA_ERROR_INVALID_VALUE;
  if (!AreEdgesTo(operation, after)) return CUDA_ERROR_INVALID_VALUE;
  const bool fits = MayHave(*graph, operation) && MayUseHandle(*graph, operation);
  if (!fits) return CUDA_ERROR_INVALID_VALUE;
  const auto* free = std::get_if<FreeOp>(&operation);
  if (free != nullptr && !MayFree(*graph, free->address)) return CUDA_ERROR_INVALID_VALUE;
  TieMemory(*graph, &operation);
  GraphNode* node = AppendNode(graph, std::move(work));
  node->after = std::move(after);
  *out = node;
  return CUDA_SUCCESS;
}

CUresult RemoveNode(GraphNode* node) {
  const bool captured = node->graph->captures != 0 || HasCapturedInside(node->operation);
  if (captured || HasMemoryNodes(*node->graph)) return CUDA_ERROR_INVALID_VALUE;
  for (GraphNode* other : node->graph->nodes) other->after.Remove(node);
  std::erase(node->graph->nodes, node);
  Nodes().Delete(node);
  return CUDA_SUCCESS;
}

void TakeWork(GraphNode* node, NodeWork work) {
  node->operation = std::move(work.operation);
  if (work.context != nullptr) node->context = work.context;
  node->places = PlacesOf(node->operation);
  node->memory = GenerationsOf(TouchedRanges(node->operation));
}

bool HasMemoryNodes(const Graph& graph) { return AnyNode(graph, IsMemoryNode); }

bool HasConditionals(const Graph& graph) {
  return AnyNode(graph, [](const Operation& operation) {
    return std::holds_alternative<ConditionalOp>(operation);
  });
}

bool MayHaveOneOnly(const Graph& graph) { return HasMemoryNodes(graph) || HasConditionals(graph); }

bool IsInside(const Graph& inner, const Graph& outer) {
  return AnyNode(outer, [&](const Operation& operation) {
    const std::vector<Graph*> inside = GraphsInside(operation);
    return std::find(inside.begin(), inside.end(), &inner) != inside.end();
  });
}

std::vector<Graph*> GraphsInside(const Operation& operation) {
  if (const auto* child = std::get_if<ChildOp>(&operation)) return {child->graph.get()};
  std::vector<Graph*> list;
  if (const auto* conditional = std::get_if<ConditionalOp>(&operation)) {
    for (const auto& body : conditional->node->bodies) list.push_back(body.get());
  }
  return list;
}

bool IsCapturedInto(const Graph& graph) {
  return graph.captures != 0 || AnyNode(graph, HasCapturedInside);
}

bool FitsBody(const Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const GraphNode* node) { return FitsBody(node->operation); });
}

void ReleaseUserObject(UserObject* object, unsigned count) {
  object->references -= count;
  if (object->references != 0) return;
  CallProgramLater(object->destroy, object->data);
  UserObjects().Delete(object);
}

}  // namespace cuheap::sim
