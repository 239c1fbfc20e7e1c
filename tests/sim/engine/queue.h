// What the files about queued work share: the queues themselves. Others use work_queue.h.
// Threads: callers hold the queue lock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "tests/sim/engine/race_oracle.h"
#include "tests/sim/engine/slots.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

struct QueuedWork {
  Operation operation;
  std::vector<TicketPtr> after;
  TicketPtr end;
};

struct Queue {
  Context* context = nullptr;
  int device = 0;
  std::uint64_t stream_id = 0;
  bool blocking = true;  // takes part in the rules of the legacy default stream
  bool legacy = false;
  bool orphan = false;  // its stream was destroyed
  bool busy = false;    // somebody does its first operation
  // The look at which its first operation still waited for a value in memory.
  std::uint64_t blocked_at = 0;
  Slot slot = 0;
  VectorClock clock;  // of the last operation submitted
  TicketPtr last;
  std::deque<QueuedWork> work;
};

using QueueGuard = std::unique_lock<std::mutex>;

struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<Queue>> all;
  Slots slots;
  VectorClock host;  // what the host knows
  RaceOracle oracle;
  // What comes before a value that a stream wrote for others to wait for, by address.
  std::map<std::uintptr_t, VectorClock> written;
  // Grows whenever memory may have changed: what waits for a value is tried once a look.
  std::uint64_t looks = 1;
  bool device_runs = false;          // the thread that goes on with blocked work
  std::atomic<bool> blocked{false};  // some queue was, and may be
  std::mt19937_64 chance;            // of the seeded clock
};

Queues& TheQueues();

}  // namespace cuheap::sim
