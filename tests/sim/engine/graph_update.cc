#include "tests/sim/engine/graph_update.h"

#include <algorithm>

#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/memory_operation.h"

namespace cuheap::sim {
namespace {

bool MayBecome(const FillOp& old, const FillOp& fresh) {
  if (old.height != fresh.height) return false;
  const bool same_shape =
      old.width == fresh.width && old.element == fresh.element && old.pitch == fresh.pitch;
  return old.height == 1 || same_shape;
}

bool MayBecome(const BatchOp& old, const BatchOp& fresh) {
  return std::equal(old.list.begin(), old.list.end(), fresh.list.begin(), fresh.list.end(),
                    [](const auto& a, const auto& b) { return MayChangeTo(a, b); });
}

bool MayBecome(const ConditionalOp& old, const ConditionalOp& fresh) {
  return old.node->type == fresh.node->type && old.node->bodies.size() == fresh.node->bodies.size();
}

// Of a kernel node, with the same root: the context that owns its function.
bool HaveSameOwner(const Context* one, const Context* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return RootOf(one) == RootOf(other);
}

bool MayBecome(const GraphNode& node, const NodeWork& work) {
  if (node.places != PlacesOf(work.operation)) return false;
  if (const auto* fill = std::get_if<FillOp>(&node.operation))
    return MayBecome(*fill, std::get<FillOp>(work.operation));
  if (const auto* batch = std::get_if<BatchOp>(&node.operation))
    return node.context == work.context && MayBecome(*batch, std::get<BatchOp>(work.operation));
  const auto* conditional = std::get_if<ConditionalOp>(&node.operation);
  return conditional == nullptr || MayBecome(*conditional, std::get<ConditionalOp>(work.operation));
}

bool IsOtherMemory(const Operation& old, const Operation& fresh) {
  if (const auto* allocation = std::get_if<AllocOp>(&old))
    return allocation->memory != std::get<AllocOp>(fresh).memory;
  const auto* free = std::get_if<FreeOp>(&old);
  return free != nullptr && free->address != std::get<FreeOp>(fresh).address;
}

// REQUIRES: both have the same type of node. Memory nodes stay what they are.
CUgraphExecUpdateResult CheckChange(const GraphNode& node, const NodeWork& work) {
  const bool kernel = NodeTypeOf(node.operation) == CU_GRAPH_NODE_TYPE_KERNEL;
  if (kernel && !HaveSameOwner(node.context, work.context)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  }
  if (IsOtherMemory(node.operation, work.operation)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
  return MayBecome(node, work) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

bool HaveSame(CUlaunchAttributeID id, const GraphNode& one, const GraphNode& other) {
  const auto value = [id](const GraphNode& node) {
    const auto found = node.attributes.find(id);
    if (found == node.attributes.end()) return 0;
    return id == CU_LAUNCH_ATTRIBUTE_PRIORITY ? found->second.priority : found->second.cooperative;
  };
  return value(one) == value(other);
}

bool MayHaveAttributes(const GraphNode& old, const GraphNode& fresh, std::uint64_t flags) {
  const bool priorities = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
  return HaveSame(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, old, fresh) &&
         (!priorities || HaveSame(CU_LAUNCH_ATTRIBUTE_PRIORITY, old, fresh));
}

std::size_t PlaceIn(const std::vector<GraphNode*>& list, const GraphNode* node) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), node) - list.begin());
}

// `flags`: those of the executable graph.
UpdateReport Take(Graph* to, const Graph& from, std::uint64_t flags);

// Dependencies are paired in the order in which they were added.
UpdateReport CompareEdges(const std::vector<GraphNode*>& old_order, const GraphNode& old,
                          const std::vector<GraphNode*>& order, GraphNode* node) {
  constexpr auto kChanged = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (old.after.size() != node->after.size()) return {kChanged, node, nullptr};
  std::map<std::size_t, const CUgraphEdgeData*> edges;
  for (const GraphNode* before : old.after)
    edges[PlaceIn(old_order, before)] = old.after.EdgeFrom(before);
  for (GraphNode* before : node->after) {
    const auto match = edges.find(PlaceIn(order, before));
    const bool same =
        match != edges.end() && AreSame(*match->second, *node->after.EdgeFrom(before));
    if (!same) return {kChanged, node, before};
  }
  return {};
}

UpdateReport TakeInside(GraphNode* to, const GraphNode& from, std::uint64_t flags) {
  if (auto* child = std::get_if<ChildOp>(&to->operation)) {
    return Take(child->graph.get(), *std::get<ChildOp>(from.operation).graph, flags);
  }
  if (auto* conditional = std::get_if<ConditionalOp>(&to->operation)) {
    const Conditional& fresh = *std::get<ConditionalOp>(from.operation).node;
    conditional->node->handle = fresh.handle;
    for (std::size_t i = 0; i < fresh.bodies.size(); ++i) {
      const UpdateReport report = Take(conditional->node->bodies[i].get(), *fresh.bodies[i], flags);
      if (report.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return report;
    }
    return {};
  }
  TakeWork(to, {from.operation, from.context});
  to->memory = from.memory;
  return {};
}

UpdateReport TakeNode(GraphNode* to, GraphNode* from, std::uint64_t flags) {
  if (NodeTypeOf(to->operation) != NodeTypeOf(from->operation)) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, from, nullptr};
  }
  if (const auto result = CheckChange(*to, {from->operation, from->context});
      result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
    return {result, from, nullptr};
  }
  if (!MayHaveAttributes(*to, *from, flags)) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, from, nullptr};
  }
  to->attributes = from->attributes;
  return TakeInside(to, *from, flags);
}

UpdateReport Take(Graph* to, const Graph& from, std::uint64_t flags) {
  const std::vector<GraphNode*> old_order = Ordered(*to);
  const std::vector<GraphNode*> order = Ordered(from);
  if (order.size() != from.nodes.size() || order.size() != old_order.size()) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr, nullptr};
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    UpdateReport report = TakeNode(old_order[i], order[i], flags);
    if (report.result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
      report = CompareEdges(old_order, *old_order[i], order, order[i]);
    if (report.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return report;
  }
  to->handles = from.handles;
  return {};
}

// The user objects of the graph whose parameters were taken replace those from before.
void TakeObjects(Graph* to, const Graph& from) {
  for (const auto& [object, count] : from.objects) object->references += count;
  const auto old = std::exchange(to->objects, from.objects);
  for (const auto& [object, count] : old) ReleaseUserObject(object, count);
}

bool IsOneRow(const CopyOp& copy) { return copy.height == 1 && copy.depth == 1 && copy.width != 0; }

bool MayChangeAlone(const Operation& old, const Operation& fresh) {
  if (const auto* copy = std::get_if<CopyOp>(&old))
    return IsOneRow(*copy) && IsOneRow(std::get<CopyOp>(fresh));
  const auto* fill = std::get_if<FillOp>(&fresh);
  return fill == nullptr || (fill->width != 0 && fill->height != 0);
}

bool CanBeDisabled(const Operation& operation) {
  const CUgraphNodeType type = NodeTypeOf(operation);
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET ||
         type == CU_GRAPH_NODE_TYPE_MEMCPY;
}

}  // namespace

UpdateReport UpdateExec(GraphExec* exec, const Graph& graph) {
  if (graph.place == GraphPlace::kMovedChild) return {CU_GRAPH_EXEC_UPDATE_ERROR};
  std::shared_ptr<Graph> changed = CopyGraph(*exec->graph, Origin::kTheirs);
  const UpdateReport report = Take(changed.get(), graph, exec->flags);
  if (report.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return report;
  TakeObjects(changed.get(), graph);
  exec->graph = std::move(changed);
  return report;
}

CUresult ChangeNode(GraphExec* exec, const GraphNode& original, NodeWork work) {
  std::shared_ptr<Graph> changed = CopyGraph(*exec->graph, Origin::kTheirs);
  GraphNode* node = FindCopy(*changed, original);
  if (node == nullptr || NodeTypeOf(node->operation) != NodeTypeOf(work.operation)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool allowed = CheckChange(*node, work) == CU_GRAPH_EXEC_UPDATE_SUCCESS &&
                       MayChangeAlone(node->operation, work.operation);
  if (!allowed) return CUDA_ERROR_INVALID_VALUE;
  TakeWork(node, std::move(work));
  exec->graph = std::move(changed);
  return CUDA_SUCCESS;
}

CUresult ChangeChild(GraphExec* exec, const GraphNode& original, const Graph& child) {
  std::shared_ptr<Graph> changed = CopyGraph(*exec->graph, Origin::kTheirs);
  GraphNode* node = FindCopy(*changed, original);
  auto* inside = node == nullptr ? nullptr : std::get_if<ChildOp>(&node->operation);
  if (inside == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Take(inside->graph.get(), child, exec->flags).result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TakeObjects(inside->graph.get(), child);
  exec->graph = std::move(changed);
  return CUDA_SUCCESS;
}

CUresult EnableNode(GraphExec* exec, const GraphNode& original, bool enabled) {
  std::shared_ptr<Graph> changed = CopyGraph(*exec->graph, Origin::kTheirs);
  GraphNode* node = FindCopy(*changed, original);
  if (node == nullptr || !CanBeDisabled(node->operation)) return CUDA_ERROR_INVALID_VALUE;
  node->enabled = enabled;
  exec->graph = std::move(changed);
  return CUDA_SUCCESS;
}

CUresult IsNodeEnabled(const GraphExec& exec, const GraphNode& original, bool* out) {
  const GraphNode* node = FindCopy(*exec.graph, original);
  if (node == nullptr || !CanBeDisabled(node->operation)) return CUDA_ERROR_INVALID_VALUE;
  *out = node->enabled;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
