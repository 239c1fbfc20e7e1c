#include "tests/sim/engine/queue_progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "tests/sim/engine/context.h"
#include "tests/sim/engine/graph_launch.h"
#include "tests/sim/engine/monotonic.h"

namespace cuheap::sim {
namespace {

using std::chrono::microseconds;
constexpr auto kBetweenLooks = microseconds(200);
constexpr auto kPatience = std::chrono::seconds(10);

// What holds the first operation back, if anything.
TicketPtr Obstacle(const Queue& queue) {
  for (const TicketPtr& before : queue.work.front().after)
    if (!IsOver(*before)) return before;
  return nullptr;
}

// What was allowed at its submission and fails now lost its memory in between.
CUresult AsBreakage(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_ILLEGAL_ADDRESS : result;
}

void PutBack(Queues& queues, Queue* queue, QueuedWork work) {
  queue->work.push_front(std::move(work));
  queue->blocked_at = queues.looks;
  queues.blocked = true;
}

void SayOnceThatItWaits() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  std::fprintf(
      stderr,
      "cuheap-sim: a stream waits for a value in memory that nobody writes, or for another "
      "process\n");
}

// The host waits for a queue that is held back by memory or by another process: the others go on,
// then it looks again.
class Patience {
 public:
  void LetOthersGoOn(Queues& queues, QueueGuard& guard) {
    const auto other = RandomReady(queues);
    if (other != nullptr && DoFirst(queues, other, guard)) return;
    queues.changed.wait_for(guard, kBetweenLooks);
    ++queues.looks;
    if (std::chrono::steady_clock::now() > begun_ + kPatience) SayOnceThatItWaits();
  }

 private:
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

bool FinishUnlessBlocked(Queues& queues, const TicketPtr& ticket, QueueGuard& guard);

// The first operation was tried and waits. A launch that waits for events: one of them is reached.
bool FinishWhatItWaitsFor(Queues& queues, const Queue& queue, QueueGuard& guard) {
  const auto* launch = std::get_if<LaunchOp>(&queue.work.front().operation);
  if (launch == nullptr) return false;
  const std::vector<TicketPtr> waits = launch->launch->events.stopped_at();
  return std::any_of(waits.begin(), waits.end(), [&](const TicketPtr& wait) {
    return FinishUnlessBlocked(queues, wait, guard);
  });
}

// Until it is done, as far as nothing waits for a value or for another process.
bool FinishUnlessBlocked(Queues& queues, const TicketPtr& ticket, QueueGuard& guard) {
  while (!IsOver(*ticket)) {
    const std::shared_ptr<Queue> queue = ticket->queue;
    if (queue == nullptr) {
      queues.blocked = true;
      return false;
    }
    if (queue->busy || queue->work.empty()) {
      queues.changed.wait(guard);
    } else if (const TicketPtr obstacle = Obstacle(*queue)) {
      if (!FinishUnlessBlocked(queues, obstacle, guard)) return false;
    } else if (!DoFirst(queues, queue, guard) && !FinishWhatItWaitsFor(queues, *queue, guard)) {
      return false;
    }
  }
  return true;
}

bool AnyWork(const Queues& queues) {
  return std::any_of(queues.all.begin(), queues.all.end(),
                     [](const auto& queue) { return queue->busy || !queue->work.empty(); });
}

// The device under the eager clock, while work is left that waits for values.
void RunDevice() {
  Queues& queues = TheQueues();
  QueueGuard guard(queues.mutex);
  while (AnyWork(queues)) {
    DoAllReady(queues, guard);
    queues.changed.wait_for(guard, kBetweenLooks);
  }
  queues.blocked = queues.device_runs = false;
}

}  // namespace

bool IsOver(Ticket& ticket) {
  if (!ticket.done && ticket.elsewhere != nullptr && ticket.elsewhere()) ticket.done = true;
  return ticket.done;
}

bool IsReady(const Queues& queues, const Queue& queue) {
  return !queue.busy && !queue.work.empty() && queue.blocked_at != queues.looks &&
         Obstacle(queue) == nullptr;
}

bool DoFirst(Queues& queues, const std::shared_ptr<Queue>& queue, QueueGuard& guard) {
  QueuedWork work = std::move(queue->work.front());
  queue->work.pop_front();
  queue->busy = true;
  // The host knows what comes before its function: as if it had waited for an event there.
  const auto* host = std::get_if<HostOp>(&work.operation);
  if (host != nullptr && host->kind != HostCall::kEngine) queues.host.Join(work.end->clock);
  guard.unlock();
  const CUresult result = Execute(work.operation, *queue->context);
  const bool done = result != CUDA_ERROR_NOT_READY;
  if (done && result != CUDA_SUCCESS) Break(queue->context, AsBreakage(result));
  if (done) work.operation = EmptyOp{};  // may be the last to hold a graph, which takes the lock
  guard.lock();
  queue->busy = false;
  queues.changed.notify_all();
  if (!done) {
    PutBack(queues, queue.get(), std::move(work));
    return false;
  }
  work.end->done_ns = MonotonicNs();
  work.end->done = true;
  ++queues.looks;
  return true;
}

std::shared_ptr<Queue> RandomReady(Queues& queues) {
  std::vector<std::shared_ptr<Queue>> ready;
  std::copy_if(queues.all.begin(), queues.all.end(), std::back_inserter(ready),
               [&](const auto& queue) { return IsReady(queues, *queue); });
  return ready.empty() ? nullptr : ready[queues.chance() % ready.size()];
}

bool DoAllReady(Queues& queues, QueueGuard& guard) {
  bool any = false;
  ++queues.looks;
  for (auto queue = RandomReady(queues); queue != nullptr; queue = RandomReady(queues))
    any |= DoFirst(queues, queue, guard);
  return any;
}

void Finish(Queues& queues, const TicketPtr& ticket, QueueGuard& guard) {
  std::optional<Patience> patience;
  while (!IsOver(*ticket)) {
    const std::shared_ptr<Queue> queue = ticket->queue;
    if (queue != nullptr && (queue->busy || queue->work.empty())) {
      queues.changed.wait(guard);
      continue;
    }
    const TicketPtr obstacle = queue == nullptr ? nullptr : Obstacle(*queue);
    if (obstacle != nullptr) {
      Finish(queues, obstacle, guard);
    } else if (queue == nullptr ||
               (!DoFirst(queues, queue, guard) && !FinishWhatItWaitsFor(queues, *queue, guard))) {
      if (!patience) patience.emplace();
      patience->LetOthersGoOn(queues, guard);
    }
  }
}

void DoEagerly(Queues& queues, const TicketPtr& ticket, QueueGuard& guard) {
  FinishUnlessBlocked(queues, ticket, guard);
  if (!queues.blocked) return;
  DoAllReady(queues, guard);
  if (!AnyWork(queues) || std::exchange(queues.device_runs, true)) return;
  std::thread(RunDevice).detach();
}

}  // namespace cuheap::sim
