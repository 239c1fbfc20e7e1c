// Events. Outside captures, recording stores a time and takes no lock.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {

struct Context;
struct GraphNode;

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::atomic<std::uint64_t> reached_ns{0};  // 0: never recorded
  // Where it was last recorded, if that was in a capture (0: it was not).
  std::atomic<std::uint64_t> capture_id{0};
  std::vector<GraphNode*> captured_after;  // guarded by the engine's lock

  void MarkReached();
};

HandlePool<Event>& Events();
CUresult NewEvent(Context* context, unsigned flags, Event** out);

// QUERY of an event whose last record was captured is CAPTURED_EVENT.
CUresult QueryEvent(Event* event);
CUresult ElapsedTime(float* milliseconds, Event* start, Event* end);

}  // namespace cuheap::sim
