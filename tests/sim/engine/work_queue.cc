#include "tests/sim/engine/work_queue.h"

#include <algorithm>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/graph_launch.h"
#include "tests/sim/engine/queue.h"
#include "tests/sim/engine/queue_progress.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/engine/staging.h"
#include "tests/sim/engine/stream.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

std::shared_ptr<Queue> MakeQueue(Queues& queues, Context* context, bool blocking) {
  auto queue = std::make_shared<Queue>();
  queue->context = context;
  queue->device = context->device;
  queue->blocking = blocking;
  queue->slot = queues.slots.Take(queues.host);
  queues.all.push_back(queue);
  return queue;
}

// A stream learns its number and whether it is the legacy one only after its queue was made; one
// from before the first queue has none yet.
const std::shared_ptr<Queue>& QueueOf(Queues& queues, Stream* stream) {
  if (stream->queue == nullptr) {
    const bool blocking = (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
    stream->queue = MakeQueue(queues, stream->context, blocking);
  }
  stream->queue->legacy = stream->is_legacy();
  stream->queue->stream_id = stream->id;
  return stream->queue;
}

// The work of a primary context is also that of its green ones.
bool IsOf(const Queue& queue, const Context* context) {
  return queue.context == context || queue.context->parent == context;
}

// An orphan goes when it is empty and the host knows all of its work: a wait for the context or the
// device has to find it until then.
void DropOrphans(Queues& queues) {
  std::erase_if(queues.all, [&](const std::shared_ptr<Queue>& queue) {
    const bool known = queue->last == nullptr || queues.host.Covers(queue->last->moment);
    if (!queue->orphan || queue->busy || !queue->work.empty() || !known) return false;
    queues.slots.GiveBack(queue->slot);
    queue->last = nullptr;  // which knows its queue: the two would keep each other
    return true;
  });
}

void Know(Queues& queues, const std::vector<TicketPtr>& tickets) {
  for (const TicketPtr& ticket : tickets) queues.host.Join(ticket->clock);
  DropOrphans(queues);
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
  const auto* launch = std::get_if<LaunchOp>(&operation);
  if (launch != nullptr) launch->launch->events.Place(queues, queue);
  CheckForRaces(queues, *queue, operation);
  if (launch != nullptr) launch->launch->events.AddWaitsTo(&queue->clock);
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
  return MakeQueue(queues, context, blocking);
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
  Queues& queues = TheQueues();
  const bool host_knows = IsQueued() && IsBetweenHosts(operation);
  const bool at_once = (!eager || queues.blocked) && Stage(&operation) == Staging::kWaits;
  QueueGuard guard(queues.mutex);
  const TicketPtr ticket = Append(queues, QueueOf(queues, stream), std::move(operation), after);
  if (at_once) {
    Finish(queues, ticket, guard);
  } else if (eager) {
    DoEagerly(queues, ticket, guard);
  }
  if (host_knows) Know(queues, {ticket});
  if (end != nullptr) *end = ticket;
  return CUDA_SUCCESS;
}

std::vector<TicketPtr> LastOfContext(const Context* context) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  return LastOf(queues, [&](const Queue& queue) { return IsOf(queue, context); });
}

TicketPtr EnqueueApart(Context* context, Operation operation, std::vector<TicketPtr> after) {
  const std::shared_ptr<Queue> queue = NewQueue(context, false);
  Queues& queues = TheQueues();
  TicketPtr end;
  {
    QueueGuard guard(queues.mutex);
    end = Append(queues, queue, std::move(operation), std::move(after));
    if (TheSettings().clock.kind == ClockKind::kEager) DoEagerly(queues, end, guard);
  }
  OrphanQueue(queue);
  return end;
}

bool ComesAfter(Stream* stream, const TicketPtr& ticket) {
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  return QueueOf(queues, stream)->clock.Covers(ticket->moment) ||
         queues.host.Covers(ticket->moment);
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
  FinishAndKnow(queues, WaitedForWith(queues, *QueueOf(queues, stream)), guard);
}

void WaitForContext(const Context* context) {
  if (!IsQueued()) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  FinishAndKnow(queues, LastOf(queues, [&](const Queue& queue) { return IsOf(queue, context); }),
                guard);
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
  if (IsOver(*ticket)) Know(queues, {ticket});
  return ticket->done;
}

bool IsDone(Stream* stream) {
  if (!IsQueued()) return true;
  Queues& queues = TheQueues();
  const QueueGuard guard(queues.mutex);
  const auto tickets = WaitedForWith(queues, *QueueOf(queues, stream));
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
  ++queues.looks;
  const std::shared_ptr<Queue> queue = QueueOf(queues, stream);
  return IsReady(queues, *queue) && DoFirst(queues, queue, guard);
}

bool AdvanceAll() {
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  return DoAllReady(queues, guard);
}

void Drift() {
  if (TheSettings().clock.kind != ClockKind::kSeeded) return;
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  ++queues.looks;
  for (std::uint64_t turns = queues.chance() % 4; turns > 0; --turns) {
    const auto queue = RandomReady(queues);
    if (queue == nullptr) return;
    DoFirst(queues, queue, guard);
  }
}

}  // namespace cuheap::sim
