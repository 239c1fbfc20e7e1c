#include "tests/sim/engine/graph_edges.h"

#include <algorithm>
#include <cstring>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {
namespace {

bool IsKernel(const Operation& operation) {
  return NodeTypeOf(operation) == CU_GRAPH_NODE_TYPE_KERNEL;
}

}  // namespace

void Dependencies::Add(GraphNode* before, const CUgraphEdgeData& edge) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), before);
  if (found == nodes_.end()) {
    nodes_.push_back(before);
    edges_.push_back(edge);
  } else if (IsPlain(edge)) {
    edges_[static_cast<std::size_t>(found - nodes_.begin())] = edge;
  }
}

void Dependencies::Add(const Dependencies& others) {
  for (std::size_t i = 0; i < others.size(); ++i) Add(others.nodes_[i], others.edges_[i]);
}

void Dependencies::Remove(const GraphNode* before) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), before);
  if (found == nodes_.end()) return;
  edges_.erase(edges_.begin() + (found - nodes_.begin()));
  nodes_.erase(found);
}

void Dependencies::Clear() {
  nodes_.clear();
  edges_.clear();
}

const CUgraphEdgeData* Dependencies::EdgeFrom(const GraphNode* before) const {
  const auto found = std::find(nodes_.begin(), nodes_.end(), before);
  return found == nodes_.end() ? nullptr
                               : &edges_[static_cast<std::size_t>(found - nodes_.begin())];
}

bool Dependencies::AllPlain() const { return std::all_of(edges_.begin(), edges_.end(), IsPlain); }

bool IsPlain(const CUgraphEdgeData& edge) { return AreSame(edge, CUgraphEdgeData{}); }

bool AreSame(const CUgraphEdgeData& one, const CUgraphEdgeData& other) {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

bool IsEdge(const CUgraphEdgeData& edge, const Operation& before, const Operation& after) {
  if (IsPlain(edge)) return true;
  const CUgraphEdgeData named{edge.from_port, 0, edge.type, {}};
  if (!AreSame(edge, named) || !IsKernel(before)) return false;
  const bool programmatic = edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  switch (edge.from_port) {
    case CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC:
      return programmatic && IsKernel(after);
    case CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER:
      return programmatic ? IsKernel(after) : edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
    default:
      return false;  // a programmatic edge without its port
  }
}

bool AreEdgesTo(const Operation& after, const Dependencies& dependencies) {
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    const Operation& before = dependencies.nodes()[i]->operation;
    if (!IsEdge(dependencies.edges()[i], before, after)) return false;
  }
  return true;
}

bool OrdersBeginningOnly(const CUgraphEdgeData& edge) {
  return edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
         edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
}

}  // namespace cuheap::sim
