#include "tests/sim/engine/graph_launch.h"

#include <algorithm>

#include "tests/sim/engine/capture.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

// What a launch needs and changes outside of its graph.
struct Effects {
  std::vector<std::shared_ptr<GraphMemory>> memory;
  std::vector<std::shared_ptr<GraphMemory>> begins;  // stays allocated after the launch
  std::vector<std::uintptr_t> ends;                  // memory of other graphs
  std::vector<std::pair<const GraphNode*, Event*>> waits;
  std::vector<std::pair<const GraphNode*, Event*>> records;  // in the order of the nodes
};

Effects EffectsOf(const Graph& graph) {
  Effects effects;
  ForEachNode(graph, [&](const GraphNode* node) {
    if (const auto* op = std::get_if<AllocOp>(&node->operation)) {
      effects.memory.push_back(op->memory);
      if (!op->memory->freed_by_owner) effects.begins.push_back(op->memory);
    } else if (const auto* free = std::get_if<FreeOp>(&node->operation)) {
      const auto memory = GraphMemoryAt(free->address);
      if (memory == nullptr || !memory->freed_by_owner) effects.ends.push_back(free->address);
    } else if (const auto* wait = std::get_if<WaitOp>(&node->operation)) {
      if (Events().Find(wait->event) != nullptr) effects.waits.emplace_back(node, wait->event);
    } else if (const auto* record = std::get_if<RecordOp>(&node->operation)) {
      if (Events().Find(record->event) != nullptr)
        effects.records.emplace_back(node, record->event);
    }
  });
  return effects;
}

CUresult CheckContexts(const Graph& graph) {
  CUresult result = CUDA_SUCCESS;
  ForEachNode(graph, [&](const GraphNode* node) {
    const Context* context = node->context;
    if (context == nullptr || !node->enabled || result != CUDA_SUCCESS) return;
    result = context->alive ? context->broken.load() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  });
  return result;
}

CUresult ProvideFor(const Effects& effects) {
  for (const auto& memory : effects.memory) {
    const CUresult result = ProvidePages(memory.get());
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// Whether a launch is allowed; physical memory it has afterwards.
CUresult Prepare(const Effects& effects, bool frees_leftovers) {
  const EngineLock lock;
  const bool unfreed = std::any_of(effects.begins.begin(), effects.begins.end(),
                                   [](const auto& memory) { return memory->allocated; });
  const bool nothing_to_free =
      std::any_of(effects.ends.begin(), effects.ends.end(),
                  [](std::uintptr_t address) { return !IsAllocated(address); });
  if ((unfreed && !frees_leftovers) || nothing_to_free) return CUDA_ERROR_INVALID_VALUE;
  return ProvideFor(effects);
}

CUresult FreeLeftovers(const Effects& effects, Stream* stream) {
  for (const auto& memory : effects.begins) {
    if (!IsAllocated(memory->region.base)) continue;
    const CUresult result = FreeInStream(memory->region.base, stream);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

void Commit(const Effects& effects, const Context* context) {
  const EngineLock lock;
  for (const std::uintptr_t address : effects.ends) EndAllocation(address);
  for (const auto& memory : effects.begins) BeginAllocation(memory, context);
}

// `*records`: the tickets of `effects.records`.
GraphEvents EventsOf(const Effects& effects, std::vector<TicketPtr>* records) {
  GraphEvents events;
  for (const auto& [node, event] : effects.waits) events.AddWait(*node, *event);
  for (const auto& [node, event] : effects.records)
    records->push_back(events.AddRecord(*node, *event));
  return events;
}

// A graph launched into a capture becomes a child of the captured one.
CUresult CaptureLaunch(const GraphExec& exec, Stream* stream) {
  const EngineLock lock;
  const CUresult allowed = CheckSubmission(stream);
  if (allowed != CUDA_SUCCESS) return allowed;
  if (MayHaveOneOnly(*exec.graph)) return RefuseOn(stream);
  std::shared_ptr<Graph> child = CopyGraph(*exec.graph);
  child->place = GraphPlace::kChild;
  return Submit(stream, ChildOp{std::move(child)});
}

// Nodes whose memory was freed and given out again, and nodes that touch memory of pools where no
// block is. Later that can't be told: what is queued may find its blocks freed behind it, and their
// places given out again.
GraphRun::Nodes LostNodes(const Graph& graph) {
  GraphRun::Nodes lost;
  ForEachNode(graph, [&](const GraphNode* node) {
    std::vector<TouchedRange> ranges = TouchedRanges(node->operation);
    if (WasReplaced(ranges, node->memory)) lost.insert(node);
    if (!IsQueued()) return;
    std::erase_if(ranges, [](const TouchedRange& range) { return !IsPoolMemory(range.base); });
    if (CheckRangesAtSubmission(ranges) != CUDA_SUCCESS) lost.insert(node);
  });
  return lost;
}

}  // namespace

GraphLaunch::GraphLaunch(std::shared_ptr<Graph> launched,
                         std::vector<std::shared_ptr<GraphMemory>> needed, GraphEvents with,
                         const Context& context)
    : graph(std::move(launched)),
      memory(std::move(needed)),
      events(std::move(with)),
      lost(LostNodes(*graph)),
      run(graph, context, &events, &lost) {
  const EngineLock lock;
  for (const auto& block : memory) ++block->launches;
}

GraphLaunch::~GraphLaunch() {
  {
    const EngineLock lock;
    for (const auto& block : memory) --block->launches;
  }
  events.ReachAll();  // those of a launch that failed
}

CUresult GraphLaunch::Advance() {
  events.BeginAdvance();
  return run.Advance();
}

CUresult LaunchGraph(GraphExec* exec, Stream* stream) {
  if (stream->capture.load() != nullptr) return CaptureLaunch(*exec, stream);
  std::shared_ptr<Graph> graph;
  Effects effects;
  std::vector<TicketPtr> after;
  {
    const EngineLock lock;
    const CUresult allowed = CheckSubmission(stream);
    if (allowed != CUDA_SUCCESS) return allowed;
    graph = exec->graph;
    const CUresult usable = CheckContexts(*graph);
    if (usable != CUDA_SUCCESS) return usable;
    effects = EffectsOf(*graph);
    if (exec->last != nullptr) after.push_back(exec->last);
  }
  const bool auto_free = (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  CUresult prepared = Prepare(effects, auto_free);
  if (prepared == CUDA_SUCCESS) prepared = FreeLeftovers(effects, stream);
  if (prepared != CUDA_SUCCESS) return prepared;
  Commit(effects, stream->context);
  TicketPtr end;
  std::vector<TicketPtr> records;
  LaunchOp launch{std::make_shared<GraphLaunch>(std::move(graph), effects.memory,
                                                EventsOf(effects, &records), *stream->context)};
  const CUresult result = SubmitAfter(stream, std::move(launch), after, &end);
  if (end == nullptr) return result;
  for (std::size_t i = 0; i < records.size(); ++i)
    effects.records[i].second->MarkQueued(std::move(records[i]));
  const EngineLock lock;
  exec->last = std::move(end);
  return result;
}

CUresult UploadGraph(GraphExec* exec) {
  const EngineLock lock;
  return ProvideFor(EffectsOf(*exec->graph));
}

}  // namespace cuheap::sim
