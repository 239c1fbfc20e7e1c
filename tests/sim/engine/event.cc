#include "tests/sim/engine/event.h"

#include <ctime>

namespace cuheap::sim {

HandlePool<Event>& Events() {
  static auto& pool = *new HandlePool<Event>;
  return pool;
}

void Event::MarkReached() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  reached_ns.store(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                       static_cast<std::uint64_t>(now.tv_nsec),
                   std::memory_order_release);
  if (capture_id.load(std::memory_order_relaxed) != 0) capture_id = 0;
}

CUresult NewEvent(Context* context, unsigned flags, Event** out) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  const bool timed_interprocess =
      (flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0;
  if ((flags & ~kKnown) != 0 || timed_interprocess) return CUDA_ERROR_INVALID_VALUE;
  *out = Events().New();
  (*out)->context = context;
  (*out)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult QueryEvent(Event* event) {
  return event->capture_id.load(std::memory_order_acquire) != 0 ? CUDA_ERROR_CAPTURED_EVENT
                                                                : CUDA_SUCCESS;
}

CUresult ElapsedTime(float* milliseconds, Event* start, Event* end) {
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (start->capture_id != 0 || end->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
  const std::uint64_t from = start->reached_ns;
  const std::uint64_t to = end->reached_ns;
  if (from == 0 || to == 0) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds =
      static_cast<float>(static_cast<double>(static_cast<std::int64_t>(to - from)) / 1e6);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
