#include "tests/sim/engine/event.h"

#include <mutex>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/monotonic.h"

namespace cuheap::sim {
namespace {

std::mutex& RecordMutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

struct SharedRecord {
  SharedEventPtr event;
  std::uint64_t number;
};

}  // namespace

bool IsRecordedElsewhere(const Event& event) {
  return event.shared != nullptr && event.shared->Latest() != 0 && !event.shared->WasRecordedHere();
}

HandlePool<Event>& Events() {
  static auto& pool = *new HandlePool<Event>;
  return pool;
}

void Event::MarkReached() {
  if (shared != nullptr) shared->Reach(shared->Record());
  MarkReachedHere();
}

void Event::MarkReachedHere() {
  reached_ns.store(MonotonicNs(), std::memory_order_release);
  if (capture_id.load(std::memory_order_relaxed) != 0) capture_id = 0;
}

void Event::MarkQueued(TicketPtr ticket) {
  const std::lock_guard<std::mutex> guard(RecordMutex());
  record = std::move(ticket);
  capture_id = 0;
}

TicketPtr Event::Record() const {
  const std::lock_guard<std::mutex> guard(RecordMutex());
  return record;
}

std::uint64_t Event::ReachedNs() const {
  const TicketPtr ticket = Record();
  return ticket == nullptr ? reached_ns.load() : TimeOf(ticket);
}

CUresult NewEvent(Context* context, unsigned flags, Event** out) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  const bool timed_interprocess =
      (flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0;
  if ((flags & ~kKnown) != 0 || timed_interprocess) return CUDA_ERROR_INVALID_VALUE;
  SharedEventPtr shared;
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    shared = NewSharedEvent();
    if (shared == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = Events().New();
  (*out)->shared = std::move(shared);
  (*out)->context = RootOf(context);
  (*out)->flags = flags;
  return CUDA_SUCCESS;
}

Event* NewSharedView(Context* context, SharedEventPtr shared) {
  Event* event = Events().New();
  event->shared = std::move(shared);
  event->context = RootOf(context);
  event->flags = CU_EVENT_DISABLE_TIMING;
  return event;
}

Operation RecordOperation(const Event& event) {
  if (event.shared == nullptr) return EmptyOp{};
  const auto reach = [](void* data) {
    const std::unique_ptr<SharedRecord> record(static_cast<SharedRecord*>(data));
    record->event->Reach(record->number);
  };
  return HostOp{reach, new SharedRecord{event.shared, event.shared->Record()}, HostCall::kEngine};
}

TicketPtr LatestRecord(const Event& event) {
  if (!IsRecordedElsewhere(event)) return event.Record();
  const SharedEventPtr shared = event.shared;
  const std::uint64_t latest = shared->Latest();
  if (shared->HasReached(latest)) return nullptr;
  BeginQueues();
  auto ticket = std::make_shared<Ticket>();
  ticket->elsewhere = [shared, latest] { return shared->HasReached(latest); };
  return ticket;
}

CUresult QueryEvent(Event* event) {
  if (IsRecordedElsewhere(*event)) {
    const std::uint64_t latest = event->shared->Latest();
    return event->shared->HasReached(latest) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }
  const TicketPtr ticket = IsQueued() ? event->Record() : nullptr;
  return ticket == nullptr || IsDone(ticket) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void WaitForEvent(Event* event) {
  if (IsRecordedElsewhere(*event)) return event->shared->WaitUntil(event->shared->Latest());
  if (!IsQueued()) return;
  if (const TicketPtr ticket = event->Record()) WaitFor(ticket);
}

CUresult ElapsedTime(float* milliseconds, Event* start, Event* end) {
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (start->capture_id != 0 || end->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
  if (!start->IsRecorded() || !end->IsRecorded()) return CUDA_ERROR_INVALID_HANDLE;
  for (Event* event : {start, end})
    if (QueryEvent(event) != CUDA_SUCCESS) return CUDA_ERROR_NOT_READY;
  const std::uint64_t from = start->ReachedNs();
  const std::uint64_t to = end->ReachedNs();
  *milliseconds =
      static_cast<float>(static_cast<double>(static_cast<std::int64_t>(to - from)) / 1e6);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
