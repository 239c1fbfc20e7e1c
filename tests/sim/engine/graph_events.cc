#include "tests/sim/engine/graph_events.h"

#include "tests/sim/engine/event.h"
#include "tests/sim/engine/monotonic.h"
#include "tests/sim/engine/queue.h"
#include "tests/sim/engine/queue_progress.h"

namespace cuheap::sim {

void GraphEvents::AddWait(const GraphNode& node, const Event& event) {
  if (TicketPtr record = LatestRecord(event)) waits_[&node] = std::move(record);
}

TicketPtr GraphEvents::AddRecord(const GraphNode& node, const Event& event) {
  Record& record = records_[&node];
  record.ticket = std::make_shared<Ticket>();
  record.shared = event.shared;
  if (record.shared != nullptr) record.number = record.shared->Record();
  return record.ticket;
}

CUresult GraphEvents::Wait(const GraphNode& node) {
  const TicketPtr wait = WaitOf(node);
  if (wait == nullptr) return CUDA_SUCCESS;
  const QueueGuard guard(TheQueues().mutex);
  if (IsOver(*wait)) return CUDA_SUCCESS;
  stopped_at_.push_back(wait);
  return CUDA_ERROR_NOT_READY;
}

void GraphEvents::Reach(const GraphNode& node) {
  const auto record = records_.find(&node);
  if (record != records_.end()) Reach(record->second);
}

void GraphEvents::ReachAll() {
  for (const auto& [node, record] : records_) Reach(record);
}

void GraphEvents::Reach(const Record& record) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  if (record.ticket->done) return;
  if (record.shared != nullptr) record.shared->Reach(record.number);
  record.ticket->done_ns = MonotonicNs();
  record.ticket->done = true;
  ++queues.looks;
  queues.changed.notify_all();
}

TicketPtr GraphEvents::WaitOf(const GraphNode& node) const {
  const auto wait = waits_.find(&node);
  return wait == waits_.end() ? nullptr : wait->second;
}

TicketPtr GraphEvents::RecordOf(const GraphNode& node) const {
  const auto record = records_.find(&node);
  return record == records_.end() ? nullptr : record->second.ticket;
}

void GraphEvents::Place(const Queues& queues, const std::shared_ptr<Queue>& queue) const {
  for (const auto& [node, record] : records_) {
    record.ticket->queue = queue;
    record.ticket->moment = {queue->slot, queues.slots.CountOf(queue->slot)};
    record.ticket->clock = queue->clock;
  }
}

void GraphEvents::AddWaitsTo(VectorClock* clock) const {
  for (const auto& [node, wait] : waits_) clock->Join(wait->clock);
}

}  // namespace cuheap::sim
