#include "tests/sim/engine/race_checks.h"

#include <map>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/graph.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

struct Place {
  Moment moment;
  StackId stack;
  std::uint64_t stream_id;
};

void Show(RaceOracle& oracle, const Operation& operation, const Place& place,
          const VectorClock& clock) {
  for (const TouchedRange& range : TouchedRanges(operation)) {
    const AccessKind kind = range.writes ? AccessKind::kWrite : AccessKind::kRead;
    oracle.Touch(range, {kind, place.moment, place.stack, place.stream_id, NameOf(operation)},
                 clock);
  }
}

// Branches of a graph that nothing orders have slots of their own. A node goes on in the slot of a
// node before it, unless another node did so already.
class GraphCheck {
 public:
  GraphCheck(Queues& queues, Queue& queue, StackId stack)
      : queues_(queues), queue_(queue), stack_(stack) {}

  // Returns the logical time at the end of the graph.
  VectorClock Run(const Graph& graph, const VectorClock& before) {
    VectorClock end = before;
    std::map<const GraphNode*, VectorClock> clocks;
    for (const GraphNode* node : graph.nodes) {
      VectorClock clock = before;
      for (const GraphNode* earlier : node->after) clock.Join(clocks.at(earlier));
      clocks[node] = RunNode(*node, std::move(clock));
      end.Join(clocks[node]);
    }
    return end;
  }

  void GiveSlotsBack() {
    for (const Slot slot : taken_) queues_.slots.GiveBack(slot);
  }

 private:
  VectorClock RunNode(const GraphNode& node, VectorClock clock) {
    if (const auto* child = std::get_if<ChildOp>(&node.operation)) return Run(*child->graph, clock);
    const Moment moment = queues_.slots.Next(SlotFor(node));
    Show(queues_.oracle, node.operation, {moment, stack_, queue_.stream_id}, clock);
    clock.Add(moment);
    return clock;
  }

  Slot SlotFor(const GraphNode& node) {
    for (const GraphNode* earlier : node.after) {
      const auto tail = tails_.find(earlier);
      if (tail == tails_.end()) continue;
      const Slot slot = tail->second;
      tails_.erase(tail);
      return tails_[&node] = slot;
    }
    taken_.push_back(queues_.slots.Take(queues_.host));
    return tails_[&node] = taken_.back();
  }

  Queues& queues_;
  Queue& queue_;
  const StackId stack_;
  std::vector<Slot> taken_;
  std::map<const GraphNode*, Slot> tails_;  // slots whose last node this is
};

AccessRecord AccessAt(const TicketPtr& ticket, AccessKind kind, const char* what) {
  const Queue& queue = *ticket->queue;
  return {kind, ticket->moment, CallStackHere(), queue.stream_id, what};
}

}  // namespace

void MemoryEnds(std::uintptr_t base, std::uint64_t bytes) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Forget(base, bytes, queues.host);
}

void MemoryReturns(std::uintptr_t base, std::uint64_t bytes) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Erase(base, bytes);
}

void MemoryBegins(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Begin(base, bytes,
                      AccessAt(ticket, AccessKind::kAllocation, "stream-ordered allocation"));
}

void MemoryEnds(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.End(base, bytes, AccessAt(ticket, AccessKind::kFree, "stream-ordered free"),
                    ticket->clock);
}

void CheckForRaces(Queues& queues, Queue& queue, const Operation& operation) {
  const auto* graph = std::get_if<ChildOp>(&operation);
  if (graph == nullptr && TouchedRanges(operation).empty()) return;
  const StackId stack = CallStackHere();
  if (graph != nullptr) {
    GraphCheck check(queues, queue, stack);
    queue.clock = check.Run(*graph->graph, queue.clock);
    return check.GiveSlotsBack();
  }
  const Moment moment{queue.slot, queues.slots.CountOf(queue.slot) + 1};
  Show(queues.oracle, operation, {moment, stack, queue.stream_id}, queue.clock);
}

}  // namespace cuheap::sim
