// Logical time: how much of each queue's work has happened. Queues are numbered by slots; a slot's
// count never falls, so that a retired slot may be given to another queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuheap::sim {

using Slot = std::uint32_t;

// One operation: the count-th of its slot.
struct Moment {
  Slot slot = 0;
  std::uint64_t count = 0;
};

class VectorClock {
 public:
  std::uint64_t at(Slot slot) const { return slot < counts_.size() ? counts_[slot] : 0; }
  bool Covers(Moment moment) const { return at(moment.slot) >= moment.count; }

  void Add(Moment moment) {
    if (moment.slot >= counts_.size()) counts_.resize(moment.slot + std::size_t{1});
    counts_[moment.slot] = std::max(counts_[moment.slot], moment.count);
  }
  void Join(const VectorClock& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
      counts_[i] = std::max(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace cuheap::sim
