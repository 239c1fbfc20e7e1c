// The nodes of a graph, and the edges between them.
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

// Edges that are given out by corresponding indices.
struct EdgeList {
  std::vector<GraphNode*> tails;
  std::vector<GraphNode*> heads;
  std::vector<CUgraphEdgeData> data;

  void AddAllTo(GraphNode* head) {
    for (GraphNode* tail : head->after) Add(tail, head, *head->after.EdgeFrom(tail));
  }
  void Add(GraphNode* tail, GraphNode* head, const CUgraphEdgeData& edge) {
    tails.push_back(tail);
    heads.push_back(head);
    data.push_back(edge);
  }
};

// LOSSY_QUERY: nodes are asked for, but not the data of edges that are not plain. `edges` beyond
// the last are zeroed.
CUresult GiveData(const EdgeList& list, bool asked, CUgraphEdgeData* edges, const size_t* count) {
  if (!asked) return edges == nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (edges == nullptr) {
    const bool plain = std::all_of(list.data.begin(), list.data.end(), IsPlain);
    return plain ? CUDA_SUCCESS : CUDA_ERROR_LOSSY_QUERY;
  }
  std::fill_n(edges, *count, CUgraphEdgeData{});
  std::copy_n(list.data.begin(), std::min(*count, list.data.size()), edges);
  return CUDA_SUCCESS;
}

EdgeList EdgesFrom(const GraphNode* node) {
  EdgeList list;
  for (GraphNode* other : node->graph->nodes) {
    const CUgraphEdgeData* edge = other->after.EdgeFrom(node);
    if (edge != nullptr) list.Add(nullptr, other, *edge);
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

// What a call says of the `i`-th of its edges.
CUgraphEdgeData DataAt(const CUgraphEdgeData* edges, size_t i) {
  return edges == nullptr ? CUgraphEdgeData{} : edges[i];
}

}  // namespace

CUresult DependenciesOf(const CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count,
                        Dependencies* out) {
  if (nodes == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) out->Add(Cast<GraphNode*>(nodes[i]), DataAt(edges, i));
  return out->size() == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

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
  if ((from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  EdgeList list;
  for (GraphNode* node : graph->nodes) list.AddAllTo(node);
  CUHEAP_SIM_TRY(GiveData(list, from != nullptr, edges, count));
  size_t room = *count;
  CUHEAP_SIM_TRY(GiveNodes(list.tails, from, &room));
  return GiveNodes(list.heads, to, count);
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
  EdgeList list;
  list.AddAllTo(node);
  CUHEAP_SIM_TRY(GiveData(list, out != nullptr, edges, count));
  return GiveNodes(list.tails, out, count);
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
  const EdgeList list = EdgesFrom(node);
  CUHEAP_SIM_TRY(GiveData(list, out != nullptr, edges, count));
  return GiveNodes(list.heads, out, count);
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

CUresult face::GraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                       const CUgraphNode* to, const CUgraphEdgeData* edges,
                                       size_t count) {
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckEdges(graph, from, to, count));
  std::set<std::pair<CUgraphNode, CUgraphNode>> fresh;
  for (size_t i = 0; i < count; ++i) {
    const auto* tail = Cast<GraphNode*>(from[i]);
    const auto* head = Cast<GraphNode*>(to[i]);
    const bool known = head->after.EdgeFrom(tail) != nullptr ||
                       !fresh.insert({from[i], to[i]}).second || tail == head;
    if (known || !IsEdge(DataAt(edges, i), tail->operation, head->operation))
      return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < count; ++i)
    Cast<GraphNode*>(to[i])->after.Add(Cast<GraphNode*>(from[i]), DataAt(edges, i));
  return CUDA_SUCCESS;
}
CUresult face::GraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                    size_t count) {
  return GraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult face::GraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                          const CUgraphNode* to, const CUgraphEdgeData* edges,
                                          size_t count) {
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckEdges(graph, from, to, count));
  if (count != 0 && HasMemoryNodes(*FindGraph(graph))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUgraphEdgeData* edge =
        Cast<GraphNode*>(to[i])->after.EdgeFrom(Cast<GraphNode*>(from[i]));
    if (edge == nullptr || !AreSame(*edge, DataAt(edges, i))) return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < count; ++i)
    Cast<GraphNode*>(to[i])->after.Remove(Cast<GraphNode*>(from[i]));
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
