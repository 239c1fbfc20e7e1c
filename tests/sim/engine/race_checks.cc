#include "tests/sim/engine/race_checks.h"

#include <map>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/graph_launch.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/memory_operation.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

struct Place {
  Moment moment;
  StackId stack;
  std::uint64_t stream_id;
};

// Values that streams write and wait for order the work around them, and are no race. What a wait
// comes after is known if the value was written, in order of submission, before it.
void ShowMemoryOperation(Queues& queues, const CUstreamBatchMemOpParams& operation,
                         const Place& place, VectorClock* clock) {
  const TouchedRange range = RangeOf(operation);
  if (range.bytes == 0) return;
  VectorClock& written = queues.written[range.base];
  if (IsWait(operation)) return clock->Join(written);
  const AccessRecord access{AccessKind::kWrite, place.moment,       place.stack,
                            place.stream_id,    "write of a value", true};
  queues.oracle.Touch(range, access, *clock);
  written.Join(*clock);
  written.Add(place.moment);
}

void ShowMemory(RaceOracle& oracle, const Operation& operation, const Place& place,
                const VectorClock& clock) {
  if (const auto* begin = std::get_if<AllocOp>(&operation)) {
    oracle.Begin(begin->memory->region.base, begin->memory->bytes,
                 {AccessKind::kAllocation, place.moment, place.stack, place.stream_id,
                  "allocation in a graph"});
  } else if (const auto* end = std::get_if<FreeOp>(&operation)) {
    oracle.End(end->address, end->bytes,
               {AccessKind::kFree, place.moment, place.stack, place.stream_id, "free in a graph"},
               clock);
  }
}

// `clock` covers what comes before the operation, and learns what that waited for.
void Show(Queues& queues, const Operation& operation, const Place& place, VectorClock* clock) {
  if (const auto* batch = std::get_if<BatchOp>(&operation)) {
    for (const auto& one : batch->list) ShowMemoryOperation(queues, one, place, clock);
    return;
  }
  for (const TouchedRange& range : TouchedRanges(operation)) {
    const AccessKind kind = range.writes ? AccessKind::kWrite : AccessKind::kRead;
    queues.oracle.Touch(
        range, {kind, place.moment, place.stack, place.stream_id, NameOf(operation)}, *clock);
  }
}

// Branches of a graph that nothing orders have slots of their own. A node goes on in the slot of a
// node before it, unless another node did so already. The bodies of a conditional node are shown
// once each, one after the other: at most one of them runs at a time.
class GraphCheck {
 public:
  GraphCheck(Queues& queues, Queue& queue, const GraphEvents& events, StackId stack)
      : queues_(queues), queue_(queue), events_(events), stack_(stack) {}

  // Returns the logical time at the end of the graph.
  VectorClock Run(const Graph& graph, const VectorClock& before) {
    VectorClock end = before;
    std::map<const GraphNode*, VectorClock> begins;
    std::map<const GraphNode*, VectorClock> ends;
    for (const GraphNode* node : graph.nodes) {
      VectorClock& begin = begins[node] = before;
      for (const GraphNode* earlier : node->after)
        begin.Join(WaitsFor(*node, earlier) ? ends.at(earlier) : begins.at(earlier));
      ends[node] = RunNode(*node, begin);
      end.Join(ends[node]);
    }
    return end;
  }

  void GiveSlotsBack() {
    for (const Slot slot : taken_) queues_.slots.GiveBack(slot);
  }

 private:
  static bool WaitsFor(const GraphNode& node, const GraphNode* earlier) {
    return !OrdersBeginningOnly(*node.after.EdgeFrom(earlier));
  }

  VectorClock RunNode(const GraphNode& node, VectorClock clock) {
    if (!node.enabled) return clock;
    if (const auto* child = std::get_if<ChildOp>(&node.operation)) return Run(*child->graph, clock);
    if (const auto* conditional = std::get_if<ConditionalOp>(&node.operation)) {
      for (const auto& body : conditional->node->bodies) clock = Run(*body, clock);
      return clock;
    }
    if (const TicketPtr wait = events_.WaitOf(node)) clock.Join(wait->clock);
    const Moment moment = queues_.slots.Next(SlotFor(node));
    const Place place{moment, stack_, queue_.stream_id};
    Show(queues_, node.operation, place, &clock);
    ShowMemory(queues_.oracle, node.operation, place, clock);
    clock.Add(moment);
    if (const TicketPtr record = events_.RecordOf(node)) {
      record->moment = moment;
      record->clock = clock;
    }
    return clock;
  }

  Slot SlotFor(const GraphNode& node) {
    for (const GraphNode* earlier : node.after) {
      const auto tail = tails_.find(earlier);
      if (tail == tails_.end() || !WaitsFor(node, earlier)) continue;
      const Slot slot = tail->second;
      tails_.erase(tail);
      return tails_[&node] = slot;
    }
    taken_.push_back(queues_.slots.Take(queues_.host));
    return tails_[&node] = taken_.back();
  }

  Queues& queues_;
  Queue& queue_;
  const GraphEvents& events_;
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
  if (!LooksForRaces()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Forget(base, bytes, queues.host);
}

void MemoryReturns(std::uintptr_t base, std::uint64_t bytes) {
  if (!LooksForRaces()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Erase(base, bytes);
}

void MemoryBegins(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket) {
  if (!LooksForRaces()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.Begin(base, bytes,
                      AccessAt(ticket, AccessKind::kAllocation, "stream-ordered allocation"));
}

void MemoryEnds(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket) {
  if (!LooksForRaces()) return;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queues.oracle.End(base, bytes, AccessAt(ticket, AccessKind::kFree, "stream-ordered free"),
                    ticket->clock);
}

void CheckForRaces(Queues& queues, Queue& queue, const Operation& operation) {
  if (!LooksForRaces()) return;
  const auto* launch = std::get_if<LaunchOp>(&operation);
  if (launch == nullptr && TouchedRanges(operation).empty()) return;
  const StackId stack = CallStackHere();
  if (launch != nullptr) {
    GraphCheck check(queues, queue, launch->launch->events, stack);
    queue.clock = check.Run(*launch->launch->graph, queue.clock);
    return check.GiveSlotsBack();
  }
  const Moment moment{queue.slot, queues.slots.CountOf(queue.slot) + 1};
  Show(queues, operation, {moment, stack, queue.stream_id}, &queue.clock);
}

}  // namespace cuheap::sim
