#include "tests/sim/engine/graph_copy.h"

#include <algorithm>
#include <set>

#include "tests/sim/engine/conditional.h"

namespace cuheap::sim {
namespace {

std::shared_ptr<Graph> CopyInOrder(const Graph& graph, const std::vector<GraphNode*>& order,
                                   Origin origin) {
  const bool theirs = origin == Origin::kTheirs;
  auto copy = NewGraph();
  copy->origin = theirs ? graph.origin : graph.id;
  copy->handles = graph.handles;
  std::map<GraphNode*, GraphNode*> twin;
  for (GraphNode* node : order) {
    GraphNode* added =
        AppendNode(copy.get(), {CopyOperation(node->operation, origin), node->context});
    added->origin = theirs ? node->origin : node->id;
    added->enabled = node->enabled;
    added->places = node->places;
    added->memory = node->memory;
    added->attributes = node->attributes;
    for (GraphNode* before : node->after)
      added->after.Add(twin.at(before), *node->after.EdgeFrom(before));
    twin[node] = added;
  }
  for (const auto& [object, count] : graph.objects) {
    object->references += count;
    copy->objects[object] = count;
  }
  return copy;
}

// Graphs inside nodes were free of cycles, or the copy was refused before (NodeOnCycle).
std::shared_ptr<Graph> CopyInside(const Graph& graph, GraphPlace place, Origin origin) {
  auto copy = CopyInOrder(graph, Ordered(graph), origin);
  copy->place = place;
  return copy;
}

std::shared_ptr<Conditional> CopyConditional(const Conditional& node, Origin origin) {
  auto copy = std::make_shared<Conditional>(node);
  copy->bodies.clear();
  copy->body_handles.clear();
  for (const auto& body : node.bodies) {
    copy->bodies.push_back(CopyInside(*body, GraphPlace::kBody, origin));
    copy->body_handles.push_back(reinterpret_cast<CUgraph>(copy->bodies.back().get()));
  }
  return copy;
}

}  // namespace

std::vector<GraphNode*> Ordered(const Graph& graph) {
  std::vector<GraphNode*> order;
  std::set<GraphNode*> done;
  bool progress = true;
  while (progress) {
    progress = false;
    for (GraphNode* node : graph.nodes) {
      if (done.count(node) != 0) continue;
      const bool ready = std::all_of(node->after.begin(), node->after.end(),
                                     [&](GraphNode* before) { return done.count(before) != 0; });
      if (!ready) continue;
      done.insert(node);
      order.push_back(node);
      progress = true;
    }
  }
  return order;
}

GraphNode* NodeOnCycle(const Graph& graph) {
  const std::vector<GraphNode*> order = Ordered(graph);
  const std::set<GraphNode*> ordered(order.begin(), order.end());
  for (GraphNode* node : graph.nodes) {
    if (ordered.count(node) == 0) return node;
    for (const Graph* inside : GraphsInside(node->operation)) {
      if (GraphNode* culprit = NodeOnCycle(*inside)) return culprit;
    }
  }
  return nullptr;
}

std::shared_ptr<Graph> CopyGraph(const Graph& graph, Origin origin) {
  if (NodeOnCycle(graph) != nullptr) return nullptr;
  return CopyInOrder(graph, Ordered(graph), origin);
}

Operation CopyOperation(const Operation& operation, Origin origin) {
  if (const auto* child = std::get_if<ChildOp>(&operation)) {
    const GraphPlace place = child->graph->place;
    return ChildOp{CopyInside(*child->graph, place, origin)};
  }
  if (const auto* conditional = std::get_if<ConditionalOp>(&operation)) {
    return ConditionalOp{CopyConditional(*conditional->node, origin)};
  }
  return operation;
}

GraphNode* FindCopy(const Graph& graph, const GraphNode& original) {
  for (GraphNode* node : graph.nodes) {
    if (node->origin == original.id) return node;
    for (const Graph* inside : GraphsInside(node->operation)) {
      if (GraphNode* found = FindCopy(*inside, original)) return found;
    }
  }
  return nullptr;
}

}  // namespace cuheap::sim
