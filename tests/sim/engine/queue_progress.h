// Doing what is queued. work_queue.h says when.
// Threads: callers hold the queue lock; `guard` lets go of it while an operation is done.
#pragma once

#include <memory>

#include "tests/sim/engine/queue.h"

namespace cuheap::sim {

// Whether it is done, here or in another process.
bool IsOver(Ticket& ticket);

// Whether its first operation can be tried: nothing holds it back, and if it waits for a value in
// memory or in a graph, that may have changed since it was tried.
bool IsReady(const Queues& queues, const Queue& queue);
// A ready queue, by chance; null: none.
std::shared_ptr<Queue> RandomReady(Queues& queues);

// REQUIRES: the queue is not busy and nothing is before its first operation. False: that waits for
// a value in memory, or is a launch that waits for an event.
bool DoFirst(Queues& queues, const std::shared_ptr<Queue>& queue, QueueGuard& guard);
// Everything that can be done now. Whether anything was.
bool DoAllReady(Queues& queues, QueueGuard& guard);
// Until it is done, and no more than that needs. What waits for a value lets all others go on.
void Finish(Queues& queues, const TicketPtr& ticket, QueueGuard& guard);
// The eager clock: done at once, unless it waits for a value, and with it what waited for a value
// that it wrote. A thread goes on with what is left.
void DoEagerly(Queues& queues, const TicketPtr& ticket, QueueGuard& guard);

}  // namespace cuheap::sim
