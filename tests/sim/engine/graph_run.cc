#include "tests/sim/engine/graph_run.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/memory_operation.h"

namespace cuheap::sim {
namespace {

// Memory that was there at the launch and is not any more.
CUresult AsFailure(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_ILLEGAL_ADDRESS : result;
}

CUresult RefuseTurns() {
  std::fprintf(
      stderr,
      "cuheap-sim: a WHILE node of a graph began for the %zu-th time and is stopped; kernels "
      "compute nothing here, cuheap_sim_set_conditional ends it\n",
      GraphRun::kMostTurns + 1);
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

}  // namespace

GraphRun::GraphRun(std::shared_ptr<const Graph> graph, const Context& context, GraphEvents* events,
                   const Nodes* lost)
    : graph_(std::move(graph)),
      context_(context),
      events_(events),
      lost_(lost),
      progress_(graph_->nodes.size()) {
  std::map<const GraphNode*, std::size_t> places;
  for (std::size_t i = 0; i < graph_->nodes.size(); ++i) places[graph_->nodes[i]] = i;
  for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
    for (const GraphNode* before : graph_->nodes[i]->after)
      progress_[i].after.push_back(places.at(before));
}

bool GraphRun::IsReady(const Progress& progress) const {
  return std::all_of(progress.after.begin(), progress.after.end(),
                     [&](std::size_t before) { return progress_[before].done; });
}

CUresult GraphRun::Advance() {
  if (!std::exchange(begun_, true)) {
    for (const auto& handle : graph_->handles)
      if (handle->assigns_initial) handle->value = handle->initial;
  }
  bool any = true;
  bool left = true;
  while (any && left) {
    any = left = false;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
      Progress& progress = progress_[i];
      if (progress.done) continue;
      left = true;
      if (!IsReady(progress)) continue;
      const CUresult result = AdvanceNode(*graph_->nodes[i], &progress);
      if (result == CUDA_ERROR_NOT_READY) continue;
      if (result != CUDA_SUCCESS) return Fail(*graph_->nodes[i], result);
      any = progress.done = true;
    }
  }
  return left ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult GraphRun::AdvanceNode(const GraphNode& node, Progress* progress) {
  if (!node.enabled) return CUDA_SUCCESS;
  if (const auto* batch = std::get_if<BatchOp>(&node.operation)) {
    return AdvanceBatch(*batch, ContextOf(node), progress);
  }
  if (const auto* child = std::get_if<ChildOp>(&node.operation)) {
    if (progress->inner == nullptr)
      progress->inner = std::make_unique<GraphRun>(child->graph, context_, events_, lost_);
    return AdvanceInner(progress);
  }
  if (const auto* conditional = std::get_if<ConditionalOp>(&node.operation)) {
    return AdvanceConditional(*conditional->node, progress);
  }
  if (std::holds_alternative<WaitOp>(node.operation)) return events_->Wait(node);
  if (std::holds_alternative<RecordOp>(node.operation)) events_->Reach(node);
  if (lost_->contains(&node)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  return Execute(node.operation, ContextOf(node));
}

const Context& GraphRun::ContextOf(const GraphNode& node) const {
  return node.context != nullptr ? *node.context : context_;
}

CUresult GraphRun::Fail(const GraphNode& node, CUresult result) {
  result = AsFailure(result);
  if (node.context != nullptr) Break(node.context, result);
  return result;
}

CUresult GraphRun::AdvanceInner(Progress* progress) {
  const CUresult result = progress->inner->Advance();
  if (result != CUDA_ERROR_NOT_READY) progress->inner.reset();
  return result;
}

CUresult GraphRun::AdvanceBatch(const BatchOp& batch, const Context& context, Progress* progress) {
  for (; progress->step < batch.list.size(); ++progress->step) {
    const CUresult result = ExecuteMemoryOperation(batch.list[progress->step], context);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult GraphRun::AdvanceConditional(const Conditional& node, Progress* progress) {
  const bool loop = node.type == CU_GRAPH_COND_TYPE_WHILE;
  while (true) {
    if (progress->inner == nullptr) {
      const auto* body = node.BodyFor(node.handle->value);
      if (body == nullptr) return CUDA_SUCCESS;
      if (progress->step == kMostTurns) return RefuseTurns();
      progress->inner = std::make_unique<GraphRun>(*body, context_, events_, lost_);
    }
    const CUresult result = AdvanceInner(progress);
    if (result != CUDA_SUCCESS || !loop) return result;
    ++progress->step;
  }
}

}  // namespace cuheap::sim
