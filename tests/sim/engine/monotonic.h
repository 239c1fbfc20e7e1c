// The monotonic clock that times of events and durations of calls are read from.
#pragma once

#include <cstdint>
#include <ctime>

namespace cuheap::sim {

inline std::uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace cuheap::sim
