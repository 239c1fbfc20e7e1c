#include "tests/sim/engine/slots.h"

#include <algorithm>

namespace cuheap::sim {

Slot Slots::Take(const VectorClock& host) {
  const auto known = std::find_if(retired_.begin(), retired_.end(), [&](Slot slot) {
    return host.Covers({slot, counts_[slot]});
  });
  if (known != retired_.end()) {
    const Slot slot = *known;
    retired_.erase(known);
    return slot;
  }
  counts_.push_back(0);
  return static_cast<Slot>(counts_.size() - 1);
}

}  // namespace cuheap::sim
