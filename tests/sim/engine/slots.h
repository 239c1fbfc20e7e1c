// Hands out the slots of logical time. A slot that was given back is handed out again once the host
// has waited for everything that happened in it: before, a new queue would seem to come after the
// old one. Threads: callers hold the queue lock.
#pragma once

#include <vector>

#include "tests/sim/engine/vector_clock.h"

namespace cuheap::sim {

class Slots {
 public:
  // The next moment of the slot is one more than its count.
  Slot Take(const VectorClock& host);
  void GiveBack(Slot slot) { retired_.push_back(slot); }
  Moment Next(Slot slot) { return {slot, ++counts_[slot]}; }
  std::uint64_t CountOf(Slot slot) const { return counts_[slot]; }

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<Slot> retired_;
};

}  // namespace cuheap::sim
