#include "tests/sim/engine/graph_update.h"

#include <algorithm>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/memory_operation.h"

namespace cuheap::sim {
namespace {

constexpr int kHost = -1;

// The device that has the memory, or kHost.
int PlaceOf(std::uintptr_t address) {
  const Allocation* block = FindAllocation(address);
  if (block == nullptr || block->type == AllocationType::kHost ||
      block->type == AllocationType::kRegistered) {
    return kHost;
  }
  return block->device;
}

bool MayBecome(const CopyOp& old, const CopyOp& fresh) {
  const bool same_kinds = (old.to_array == nullptr) == (fresh.to_array == nullptr) &&
                          (old.from_array == nullptr) == (fresh.from_array == nullptr);
  return same_kinds && PlaceOf(old.to) == PlaceOf(fresh.to) &&
         PlaceOf(old.from) == PlaceOf(fresh.from);
}

bool MayBecome(const FillOp& old, const FillOp& fresh) {
  if (PlaceOf(old.to) != PlaceOf(fresh.to) || old.height != fresh.height) return false;
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

// REQUIRES: both have the same type of node. Memory nodes stay what they are.
CUgraphExecUpdateResult CheckChange(const GraphNode& node, const NodeWork& work) {
  const Operation& old = node.operation;
  const Operation& fresh = work.operation;
  bool allowed = true;
  if (const auto* copy = std::get_if<CopyOp>(&old)) {
    allowed = MayBecome(*copy, std::get<CopyOp>(fresh));
  } else if (const auto* fill = std::get_if<FillOp>(&old)) {
    allowed = MayBecome(*fill, std::get<FillOp>(fresh));
  } else if (const auto* batch = std::get_if<BatchOp>(&old)) {
    allowed = node.context == work.context && MayBecome(*batch, std::get<BatchOp>(fresh));
  } else if (const auto* conditional = std::get_if<ConditionalOp>(&old)) {
    allowed = MayBecome(*conditional, std::get<ConditionalOp>(fresh));
  } else if (const auto* allocation = std::get_if<AllocOp>(&old)) {
    if (allocation->memory != std::get<AllocOp>(fresh).memory)
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  } else if (const auto* free = std::get_if<FreeOp>(&old)) {
    if (free->address != std::get<FreeOp>(fresh).address)
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
  return allowed ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

std::size_t PlaceIn(const std::vector<GraphNode*>& list, const GraphNode* node) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), node) - list.begin());
}

UpdateReport Take(Graph* to, const Graph& from);

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

UpdateReport TakeInside(GraphNode* to, const GraphNode& from) {
  if (auto* child = std::get_if<ChildOp>(&to->operation)) {
    return Take(child->graph.get(), *std::get<ChildOp>(from.operation).graph);
  }
  if (auto* conditional = std::get_if<ConditionalOp>(&to->operation)) {
    const Conditional& fresh = *std::get<ConditionalOp>(from.operation).node;
    conditional->node->handle = fresh.handle;
    for (std::size_t i = 0; i < fresh.bodies.size(); ++i) {
      const UpdateReport report = Take(conditional->node->bodies[i].get(), *fresh.bodies[i]);
      if (report.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return report;
    }
    return {};
  }
  TakeWork(to, {from.operation, from.context});
  return {};
}

UpdateReport TakeNode(GraphNode* to, GraphNode* from) {
  if (NodeTypeOf(to->operation) != NodeTypeOf(from->operation)) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, from, nullptr};
  }
  if (const auto result = CheckChange(*to, {from->operation, from->context});
      result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
    return {result, from, nullptr};
  }
  to->attributes = from->attributes;
  return TakeInside(to, *from);
}

UpdateReport Take(Graph* to, const Graph& from) {
  const std::vector<GraphNode*> old_order = Ordered(*to);
  const std::vector<GraphNode*> order = Ordered(from);
  if (order.size() != from.nodes.size() || order.size() != old_order.size()) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr, nullptr};
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    UpdateReport report = TakeNode(old_order[i], order[i]);
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
  const UpdateReport report = Take(changed.get(), graph);
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
  if (Take(inside->graph.get(), child).result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
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
