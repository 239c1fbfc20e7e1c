// Events. Under the plain eager clock and outside captures, recording stores a time and takes no
// lock; else the event has the ticket of its place in the stream's queue.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/sim/engine/graph_edges.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/shared_event.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

struct Context;
struct GraphNode;

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::atomic<std::uint64_t> reached_ns{0};  // 0: never recorded, or its record is queued
  TicketPtr record;                          // of the last record that was queued; under its lock
  // Where it was last recorded, if that was in a capture (0: it was not).
  std::atomic<std::uint64_t> capture_id{0};
  Dependencies captured_after;  // guarded by the engine's lock
  SharedEventPtr shared;        // of several processes; constant

  void MarkReached();
  void MarkReachedHere();  // as far as this process knows the event
  void MarkQueued(TicketPtr ticket);
  TicketPtr Record() const;  // none: never queued
  // 0: not recorded, or not reached.
  std::uint64_t ReachedNs() const;
  bool IsRecorded() const { return reached_ns.load() != 0 || Record() != nullptr; }
};

HandlePool<Event>& Events();
CUresult NewEvent(Context* context, unsigned flags, Event** out);
// An event that shows what another process made.
Event* NewSharedView(Context* context, SharedEventPtr shared);

// Whether the latest record is another process's.
bool IsRecordedElsewhere(const Event& event);
// What a record does in its stream: processes that share the event learn of it.
Operation RecordOperation(const Event& event);
// The end of what was recorded last, by whatever process. None: nothing is to be waited for. Work
// that waits for another process is queued under all clocks.
TicketPtr LatestRecord(const Event& event);
// SUCCESS or NOT_READY. REQUIRES: not captured.
CUresult QueryEvent(Event* event);
void WaitForEvent(Event* event);
CUresult ElapsedTime(float* milliseconds, Event* start, Event* end);

}  // namespace cuheap::sim
