// The order in which freed memory is given out again: the lowest first, or, when a test asks, the
// latest first. An allocator that reuses too early is caught only where the driver reuses at once.
//
// Threads: callers hold the engine's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cuheap::sim {

// Of the process; off at first.
bool IsLatestFirst();
void SetLatestFirst(bool on);

// What was freed, the latest last, by place and length. Nothing is kept while the order is another.
class LatestFreed {
 public:
  void Add(std::uint64_t place, std::uint64_t length) {
    if (IsLatestFirst()) list_.push_back({place, length});
  }

  // The latest of that length that is still free, as is_free(place) tells.
  template <class IsFree>
  std::optional<std::uint64_t> Take(std::uint64_t length, IsFree&& is_free) {
    if (!IsLatestFirst()) list_.clear();
    for (std::size_t i = list_.size(); i-- > 0;) {
      if (list_[i].length != length) continue;
      const std::uint64_t place = list_[i].place;
      list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_free(place)) return place;
    }
    return std::nullopt;
  }

 private:
  struct Freed {
    std::uint64_t place;
    std::uint64_t length;
  };
  std::vector<Freed> list_;
};

}  // namespace cuheap::sim
