#include "tests/sim/engine/work_queue.h"

#include <algorithm>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/monotonic.h"
#include "tests/sim/engine/queue.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/engine/staging.h"
#include "tests/sim/engine/stream.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

// A stream learns its number and whether it is the legacy one only after its queue was made.
const std::shared_ptr<Queue>& QueueOf(Stream* stream) {
  stream->queue->legacy = stream->is_legacy();
  stream->queue->stream_id = stream->id;
  return stream->queue;
}

// What holds the first operation back, if anything.
TicketPtr Obstacle(const Queue& queue) {
  for (const TicketPtr& before : queue.work.front().after)
    if (!before->done) return before;
  return nullptr;
}

bool IsReady(const Queue& queue) {
  return !queue.busy && !queue.work.empty() && Obstacle(queue) == nullptr;
}

// An orphan goes when it is empty and the host knows all of its work: a wait for the context or the
// device has to find it until then.
void DropOrphans(Queues& queues) {
  std::erase_if(queues.all, [&](const std::shared_ptr<Queue>& queue) {
    const bool known = queue->last == nullptr || queues.host.Covers(queue->last->moment);
    if (!queue->orphan || queue->busy || !queue->work.empty() || !known) return false;
    queues.slots.GiveBack(queue->slot);
    return true;
  });
}

void Know(Queues& queues, const std::vector<TicketPtr>& tickets) {
  for (const TicketPtr& ticket : tickets) queues.host.Join(ticket->clock);
  DropOrphans(queues);
}

// REQUIRES: the queue is ready.
void DoFirst(Queues& queues, const std::shared_ptr<Queue>& queue, QueueGuard& guard) {
  QueuedWork work = std::move(queue->work.front());
  queue->work.pop_front();
  queue->busy = true;
  guard.unlock();
  // What was allowed at its submission and fails now lost its memory in between.
  if (Execute(work.operation) != CUDA_SUCCESS) queue->context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
  work.operation = EmptyOp{};  // may be the last to hold a graph, which takes the queue lock
  guard.lock();
  queue->busy = false;
  work.end->done_ns = MonotonicNs();
  work.end->done = true;
  queues.changed.notify_all();
}

void Finish(Queues& queues, const TicketPtr& ticket, QueueGuard& guard) {
  while (!ticket->done) {
    const std::shared_ptr<Queue> queue = ticket->queue;
    if (queue->busy || queue->work.empty()) {
      queues.changed.wait(guard);
    } else if (const TicketPtr obstacle = Obstacle(*queue)) {
      Finish(queues, obstacle, guard);
    } else {
      DoFirst(queues, queue, guard);
    }
  }
}

std::shared_ptr<Queue> RandomReady(Queues& queues) {
  std::vector<std::shared_ptr<Queue>> ready;
  std::copy_if(queues.all.begin(), queues.all.end(), std::back_inserter(ready),
               [](const auto& queue) { return IsReady(*queue); });
  return ready.empty() ? nullptr : ready[queues.chance() % ready.size()];
}

void FinishAndKnow(Queues& queues, const std::vector<TicketPtr>& tickets, QueueGuard& guard) {
  for (const TicketPtr& ticket : tickets) {
    if (TheSettings().clock.kind == ClockKind::kSeeded) {
      while (!ticket->done) {
        const auto queue = RandomReady(queues);
        if (queue == nullptr) break;
        DoFirst(queues, queue, guard);
      }
    }
    Finish(queues, ticket, guard);
  }
  Know(queues, tickets);
}

template <class Predicate>
std::vector<TicketPtr> LastOf(const Queues& queues, Predicate predicate) {
  std::vector<TicketPtr> last;
  for (const auto& queue : queues.all)
    if (queue->last != nullptr && predicate(*queue)) last.push_back(queue->last);
  return last;
}

// The rule of the legacy default stream: it comes after all that was submitted to the other
// blocking streams of its context, and they come after it.
std::vector<TicketPtr> ImplicitlyBefore(const Queues& queues, const Queue& queue) {
  if (!queue.legacy && !queue.blocking) return {};
  return LastOf(queues, [&](const Queue& other) {
    return &other != &queue && other.context == queue.context &&
           (queue.legacy ? other.blocking : other.legacy);
  });
}

std::vector<TicketPtr> WaitedForWith(const Queues& queues, const Queue& queue) {
  std::vector<TicketPtr> tickets;
  if (queue.last != nullptr) tickets.push_back(queue.last);
  if (!queue.legacy) return tickets;
  const auto others = ImplicitlyBefore(queues, queue);
  tickets.insert(tickets.end(), others.begin(), others.end());
  return tickets;
}

TicketPtr Append(Queues& queues, const std::shared_ptr<Queue>& queue, Operation operation,
                 std::vector<TicketPtr> after) {
  const auto implicit = ImplicitlyBefore(queues, *queue);
  after.insert(after.end(), implicit.begin(), implicit.end());
  queue->clock.Join(queues.host);
  for (const TicketPtr& before : after) queue->clock.Join(before->clock);
  CheckForRaces(queues, *queue, operation);
  auto end = std::make_shared<Ticket>();
  end->moment = queues.slots.Next(queue->slot);
  queue->clock.Add(end->moment);
  end->queue = queue;
  end->clock = queue->clock;
  queue->last = end;
  std::erase_if(after, [](const TicketPtr& before) { return before->done; });
  queue->work.push_back({std::move(operation), std::move(after), end});
  return end;
}

}  // namespace

Queues& TheQueues() {
  static auto& queues = *[] {
    auto* made = new Queues;
    made->chance.seed(TheSettings().clock.seed);
    return made;
  }();
  return queues;
}

std::shared_ptr<Queue> NewQueue(Context* context, bool blocking) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  auto queue = std::make_shared<Queue>();
  queue->context = context;
  queue->device = context->device;
  queue->blocking = blocking;
  queue->slot = queues.slots.Take(queues.host);
  queues.all.push_back(queue);
  return queue;
}

void OrphanQueue(const std::shared_ptr<Queue>& queue) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  queue->orphan = true;
  DropOrphans(queues);
}

CUresult Enqueue(Stream* stream, Operation operation, const std::vector<TicketPtr>& after,
                 TicketPtr* end) {
  const CUresult allowed = CheckRangesAtSubmission(TouchedRanges(operation));
  if (allowed != CUDA_SUCCESS) return allowed;
  const bool eager = TheSettings().clock.kind == ClockKind::kEager;
  const bool at_once = eager || Stage(&operation) == Staging::kWaits;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  const TicketPtr ticket = Append(queues, QueueOf(stream), std::move(operation), after);
  if (at_once) Finish(queues, ticket, guard);
  if (end != nullptr) *end = ticket;
  return CUDA_SUCCESS;
}

bool ComesAfter(Stream* stream, const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  return stream->queue->clock.Covers(ticket->moment) || queues.host.Covers(ticket->moment);
}

void WaitFor(const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  FinishAndKnow(queues, {ticket}, guard);
}

void WaitForStream(Stream* stream) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  FinishAndKnow(queues, WaitedForWith(queues, *QueueOf(stream)), guard);
}

void WaitForContext(const Context* context) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  FinishAndKnow(
      queues, LastOf(queues, [&](const Queue& queue) { return queue.context == context; }), guard);
}

void WaitForDevice(int device) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  FinishAndKnow(queues, LastOf(queues, [&](const Queue& queue) { return queue.device == device; }),
                guard);
}

bool IsDone(const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  if (ticket->done) Know(queues, {ticket});
  return ticket->done;
}

bool IsDone(Stream* stream) {
  if (!IsQueued()) return true;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  const auto tickets = WaitedForWith(queues, *QueueOf(stream));
  const bool done = std::all_of(tickets.begin(), tickets.end(),
                                [](const TicketPtr& ticket) { return ticket->done; });
  if (done) Know(queues, tickets);
  return done;
}

std::uint64_t TimeOf(const TicketPtr& ticket) {
  const QueueGuard guard(TheQueues().mutex);
  return ticket->done_ns;
}

bool AdvanceOne(Stream* stream) {
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  if (!IsReady(*stream->queue)) return false;
  DoFirst(queues, stream->queue, guard);
  return true;
}

bool AdvanceAll() {
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  bool any = false;
  for (auto queue = RandomReady(queues); queue != nullptr; queue = RandomReady(queues)) {
    DoFirst(queues, queue, guard);
    any = true;
  }
  return any;
}

void Drift() {
  if (TheSettings().clock.kind != ClockKind::kSeeded) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  for (std::uint64_t turns = queues.chance() % 4; turns > 0; --turns) {
    const auto queue = RandomReady(queues);
    if (queue == nullptr) return;
    DoFirst(queues, queue, guard);
  }
}

}  // namespace cuheap::sim
