// Work that waits its turn: one queue for each stream, and what the host knows of them.
//
// Laws: 1. The operations of a queue are done one after the other, in the order of submission.
//       2. An operation begins when everything that it was queued after is done. What that is was
//          settled at its submission: its queue, events waited for, the rules of default streams.
//       3. Logical time says the same: an operation's clock covers exactly what is ordered before
//          it, however long the work itself takes.
//       4. The host knows what it has waited for or has asked about. Its threads are taken as one:
//          what one of them waited for, the others know.
//       5. A queue outlives its stream until it is empty and the host knows all of its work.
//       6. An operation that waits for a value in memory, or a launch for an event, holds its queue
//          back until it is there. Who waits for such a queue lets all others go on meanwhile, as a
//          device would; under the eager clock a thread of the device goes on with it when the
//          value comes.
// Threads: any. The queue lock is taken inside and never held while an operation runs, so that host
// functions may call the driver. Nobody who waits may hold the engine's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/sim/engine/operation.h"
#include "tests/sim/engine/vector_clock.h"

namespace cuheap::sim {

struct Context;
struct Queue;
struct Stream;

// The end of one operation, or of a node inside a launch that records an event.
struct Ticket {
  std::shared_ptr<Queue> queue;     // none: it is another process's
  std::function<bool()> elsewhere;  // asks whether that one is done
  Moment moment;
  VectorClock clock;          // covers `moment` too
  bool done = false;          // guarded by the queue lock
  std::uint64_t done_ns = 0;  // the monotonic clock, then
};
using TicketPtr = std::shared_ptr<Ticket>;

std::shared_ptr<Queue> NewQueue(Context* context, bool blocking);
void OrphanQueue(const std::shared_ptr<Queue>& queue);

// Queues `operation`, after `after` too. INVALID_VALUE: it touches device addresses that no
// allocation covers. `*end` is its ticket.
CUresult Enqueue(Stream* stream, Operation operation, const std::vector<TicketPtr>& after = {},
                 TicketPtr* end = nullptr);

// The ends of everything submitted so far to the streams of a context.
std::vector<TicketPtr> LastOfContext(const Context* context);
// Queues `operation` in no stream: after what is given, and nothing comes after it by itself.
TicketPtr EnqueueApart(Context* context, Operation operation, std::vector<TicketPtr> after);

// Whether what is submitted to `stream` from now on comes after `ticket`.
bool ComesAfter(Stream* stream, const TicketPtr& ticket);

// Waits; afterwards the host knows. Of a stream, a context, a device: everything submitted so far.
void WaitFor(const TicketPtr& ticket);
void WaitForStream(Stream* stream);
void WaitForContext(const Context* context);
void WaitForDevice(int device);
// Whether it is done; if so, the host knows.
bool IsDone(const TicketPtr& ticket);
bool IsDone(Stream* stream);
std::uint64_t TimeOf(const TicketPtr& ticket);  // 0: not done

// The manual clock. False: nothing could be done, or the first operation waits for a value, or
// is a launch that waits for an event.
bool AdvanceOne(Stream* stream);
bool AdvanceAll();
// The seeded clock: does a random share of what can be done. Nothing under other clocks.
void Drift();

}  // namespace cuheap::sim
