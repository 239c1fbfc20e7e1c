// Time as a seam: the ledger takes a Clock, so tests move time by hand.
#pragma once

#include <cstdint>

namespace cuheap {

class Clock {
 public:
  // Nanoseconds of a clock that never goes back, comparable between processes of one machine
  // (CLOCK_MONOTONIC).
  virtual std::uint64_t MonotonicNs() = 0;
  // The same clock as it stood at the machine's last tick: a few milliseconds late at most, and
  // several times cheaper.
  virtual std::uint64_t LateMonotonicNs() = 0;
  // Nanoseconds since 1970.
  virtual std::uint64_t WallNs() = 0;

 protected:
  ~Clock() = default;
};

// The machine's clock. Any thread, no locks, async-signal-safe.
Clock& SystemClock();

}  // namespace cuheap
