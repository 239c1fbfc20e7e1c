// The nodes of a graph, and the edges between them. All edges are plain ones.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

// With no room asked about, the number of entries; with room, entries and a NULL tail.
CUresult GiveNodes(const std::vector<GraphNode*>& list, CUgraphNode* out, size_t* count) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  if (out != nullptr) {
    for (size_t i = 0; i < *count; ++i) {
      out[i] = i < list.size() ? Cast<CUgraphNode>(list[i]) : nullptr;
    }
    *count = std::min(*count, list.size());
  } else {
    *count = list.size();
  }
  return CUDA_SUCCESS;
}

void ClearEdges(CUgraphEdgeData* edges, const size_t* count) {
  if (edges != nullptr) std::fill_n(edges, *count, CUgraphEdgeData{});
}

std::vector<GraphNode*> Dependents(const GraphNode* node) {
  std::vector<GraphNode*> list;
  for (GraphNode* other : node->graph->nodes) {
    if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) {
      list.push_back(other);
    }
  }
  return list;
}

// Both ends of each edge must be nodes of the graph before any edge changes.
CUresult CheckEdges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  if (count != 0) CUHEAP_SIM_TRY(NeedPointers(from, to));
  for (size_t i = 0; i < count; ++i) {
    GraphNode* tail = nullptr;
    GraphNode* head = nullptr;
    CUHEAP_SIM_TRY(NodeOf(from[i], &tail));
    CUHEAP_SIM_TRY(NodeOf(to[i], &head));
    if (tail->graph != graph || head->graph != graph) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

bool HasEdge(CUgraphNode from, CUgraphNode to) {
  const auto& after = Cast<GraphNode*>(to)->after;
  return std::find(after.begin(), after.end(), Cast<GraphNode*>(from)) != after.end();
}

}  // namespace

CUresult face::GraphGetNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  return GiveNodes(graph->nodes, out, count);
}

CUresult face::GraphGetRootNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  std::vector<GraphNode*> roots;
  std::copy_if(graph->nodes.begin(), graph->nodes.end(), std::back_inserter(roots),
               [](const GraphNode* node) { return node->after.empty(); });
  return GiveNodes(roots, out, count);
}

CUresult face::GraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                                CUgraphEdgeData* edges, size_t* count) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  std::vector<GraphNode*> tails;
  std::vector<GraphNode*> heads;
  for (GraphNode* node : graph->nodes) {
    tails.insert(tails.end(), node->after.begin(), node->after.end());
    heads.insert(heads.end(), node->after.size(), node);
  }
  if ((from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  ClearEdges(edges, count);
  size_t room = *count;
  CUHEAP_SIM_TRY(GiveNodes(tails, from, &room));
  return GiveNodes(heads, to, count);
}

CUresult face::GraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return GraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult face::GraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* out,
                                           CUgraphEdgeData* edges, size_t* count) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  const EngineLock lock;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(NodeOf(handle, &node));
  ClearEdges(edges, count);
  return GiveNodes(node->after, out, count);
}
CUresult face::GraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return GraphNodeGetDependencies_v2(node, out, nullptr, count);
}

CUresult face::GraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* out,
                                             CUgraphEdgeData* edges, size_t* count) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  const EngineLock lock;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(NodeOf(handle, &node));
  ClearEdges(edges, count);
  return GiveNodes(Dependents(node), out, count);
}
CUresult face::GraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return GraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}

CUresult face::GraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  CUHEAP_SIM_TRY(NeedPointers(type));
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(NodeOf(handle, &node));
  *type = NodeTypeOf(node->operation);
  return CUDA_SUCCESS;
}

// PARTIAL: edges are plain ones only (edge data must be zero).
CUresult face::GraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                       const CUgraphNode* to, const CUgraphEdgeData* edges,
                                       size_t count) {
  CUHEAP_SIM_TRY(NeedPlainEdges(edges, count));
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckEdges(graph, from, to, count));
  std::set<std::pair<CUgraphNode, CUgraphNode>> fresh;
  for (size_t i = 0; i < count; ++i) {
    const bool known = HasEdge(from[i], to[i]) || !fresh.insert({from[i], to[i]}).second;
    if (known || from[i] == to[i]) return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < count; ++i)
    Cast<GraphNode*>(to[i])->after.push_back(Cast<GraphNode*>(from[i]));
  return CUDA_SUCCESS;
}
CUresult face::GraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                    size_t count) {
  return GraphAddDependencies_v2(graph, from, to, nullptr, count);
}

// PARTIAL: edges are plain ones only (edge data must be zero).
CUresult face::GraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                          const CUgraphNode* to, const CUgraphEdgeData* edges,
                                          size_t count) {
  CUHEAP_SIM_TRY(NeedPlainEdges(edges, count));
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckEdges(graph, from, to, count));
  if (count != 0 && HasMemoryNodes(*FindGraph(graph))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (!HasEdge(from[i], to[i])) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    std::erase(Cast<GraphNode*>(to[i])->after, Cast<GraphNode*>(from[i]));
  return CUDA_SUCCESS;
}
CUresult face::GraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                       const CUgraphNode* to, size_t count) {
  return GraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult face::GraphDestroyNode(CUgraphNode handle) {
  const EngineLock lock;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(NodeOf(handle, &node));
  return RemoveNode(node);
}

}  // namespace cuheap::sim
