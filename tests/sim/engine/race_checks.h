// Shows the race oracle what operations touch. A graph is shown node by node, in the logical time
// of its edges. Threads: callers hold the queue lock
// unless it says otherwise.
#pragma once

#include "tests/sim/engine/queue.h"

namespace cuheap::sim {

// `queue.clock` covers what comes before the operation; its own moment comes next in its slot. A
// graph leaves the moments of its branches in it.
void CheckForRaces(Queues& queues, Queue& queue, const Operation& operation);

// Memory that ends at once, by the host. Takes the queue lock; nothing where no work is queued.
void MemoryEnds(std::uintptr_t base, std::uint64_t bytes);
// Memory that the driver gives back when the work that uses it is done. Takes the queue lock.
void MemoryReturns(std::uintptr_t base, std::uint64_t bytes);
// Memory that begins or ends in a stream, at the moment of `ticket`. Takes the queue lock.
void MemoryBegins(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket);
void MemoryEnds(std::uintptr_t base, std::uint64_t bytes, const TicketPtr& ticket);

}  // namespace cuheap::sim
