#include "tests/sim/engine/graph_instantiate.h"

#include <algorithm>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/peer_access.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kKnownFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

bool HasUnusedHandle(const Graph& graph) {
  std::vector<const ConditionalHandle*> used;
  std::vector<const ConditionalHandle*> made;
  for (const auto& handle : graph.handles) made.push_back(handle.get());
  ForEachNode(graph, [&](const GraphNode* node) {
    const auto* conditional = std::get_if<ConditionalOp>(&node->operation);
    if (conditional == nullptr) return;
    used.push_back(conditional->node->handle.get());
    for (const auto& body : conditional->node->bodies)
      for (const auto& handle : body->handles) made.push_back(handle.get());
  });
  return std::any_of(made.begin(), made.end(), [&](const auto* handle) {
    return std::find(used.begin(), used.end(), handle) == used.end();
  });
}

// A child inside a body may have got a node afterwards that bodies may not have.
GraphNode* WithUnfitBody(const Graph& graph) {
  GraphNode* culprit = nullptr;
  ForEachNode(graph, [&](GraphNode* node) {
    const auto* conditional = std::get_if<ConditionalOp>(&node->operation);
    if (conditional == nullptr) return;
    for (const auto& body : conditional->node->bodies)
      if (!FitsBody(*body)) culprit = node;
  });
  return culprit;
}

bool IsWork(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
         type == CU_GRAPH_NODE_TYPE_MEMSET;
}

// Memory of a device or pinned, that the context reaches by itself.
bool IsOpenTo(const Context* context, const MemoryPlace& place, std::uintptr_t address) {
  if (place.kind != PlaceKind::kDevice && place.kind != PlaceKind::kPinned) return false;
  return context == nullptr || AccessOf(*context, *FindAllocation(address)) != Access::kNone;
}

bool IsFitForDevice(const CopyOp& copy, const Context* context) {
  const bool arrays = copy.to_array != nullptr || copy.from_array != nullptr;
  const MemoryPlaces places = PlacesOf(copy);
  return !arrays && IsOpenTo(context, places.to, copy.to) &&
         IsOpenTo(context, places.from, copy.from);
}

// Only some work, and graphs of it, may be launched from a device.
GraphNode* UnfitForDevice(const Graph& graph) {
  GraphNode* culprit = nullptr;
  ForEachNode(graph, [&](GraphNode* node) {
    const CUgraphNodeType type = NodeTypeOf(node->operation);
    const auto* copy = std::get_if<CopyOp>(&node->operation);
    const bool fit = (IsWork(type) || type == CU_GRAPH_NODE_TYPE_GRAPH) &&
                     (copy == nullptr || IsFitForDevice(*copy, node->context));
    if (!fit && culprit == nullptr) culprit = node;
  });
  return culprit;
}

bool HasWork(const Graph& graph) {
  bool any = false;
  ForEachNode(graph, [&](const GraphNode* node) { any |= IsWork(NodeTypeOf(node->operation)); });
  return any;
}

// A node that is not in the context of those before it.
GraphNode* InAnotherContext(const Graph& graph) {
  const Context* context = nullptr;
  GraphNode* culprit = nullptr;
  ForEachNode(graph, [&](GraphNode* node) {
    if (node->context == nullptr || culprit != nullptr) return;
    if (context != nullptr && node->context != context) culprit = node;
    context = node->context;
  });
  return culprit;
}

InstantiateReport CheckForDevice(const Graph& graph) {
  if (GraphNode* culprit = UnfitForDevice(graph)) {
    return {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, culprit};
  }
  if (GraphNode* culprit = InAnotherContext(graph)) {
    return {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, culprit};
  }
  return HasWork(graph) ? InstantiateReport{}
                        : InstantiateReport{CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, nullptr};
}

InstantiateReport CheckStructure(const Graph& graph, std::uint64_t flags) {
  if (GraphNode* culprit = NodeOnCycle(graph)) {
    return {CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, culprit};
  }
  if (GraphNode* culprit = WithUnfitBody(graph)) {
    return {CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, culprit};
  }
  if (HasUnusedHandle(graph)) {
    return {CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr};
  }
  const bool device = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  return device ? CheckForDevice(graph) : InstantiateReport{};
}

}  // namespace

CUresult Instantiate(Graph* graph, std::uint64_t flags, GraphExec** out,
                     InstantiateReport* report) {
  *report = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  constexpr std::uint64_t kExclude =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  const bool flags_fit = (flags & ~kKnownFlags) == 0 && (flags & kExclude) != kExclude;
  if (!flags_fit || graph->place == GraphPlace::kMovedChild) return CUDA_ERROR_INVALID_VALUE;
  if (IsCapturedInto(*graph)) return CUDA_ERROR_INVALID_VALUE;
  const bool alone = MayHaveOneOnly(*graph);
  if (alone && !graph->instance.expired()) return CUDA_ERROR_INVALID_VALUE;
  const InstantiateReport structure = CheckStructure(*graph, flags);
  *report = structure;
  if (structure.result != CUDA_GRAPH_INSTANTIATE_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  GraphExec* exec = Execs().New();
  exec->graph = CopyGraph(*graph);
  ForEachNode(*exec->graph, [](GraphNode* node) { node->places = PlacesOf(node->operation); });
  exec->flags = flags & ~std::uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
  if (alone) exec->instance = std::make_shared<int>();
  graph->instance = exec->instance;
  *out = exec;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
