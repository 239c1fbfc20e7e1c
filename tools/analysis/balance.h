// The balance of a device at an instant:
//   used = live + rounding + holes + idle + waiting + untracked + other processes
// It always sums, since untracked is the rest; what cannot be seen is unknown and counts as 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/segments.h"
#include "tools/analysis/view.h"
#include "tools/trace/trace.h"

namespace cuheap::analysis {

struct HeapRow {
  format::Heap heap{};
  std::string name;
  bool in_used = false;
  std::uint64_t live = 0;
  std::uint64_t live_blocks = 0;
  std::optional<std::uint64_t> rounding;
  std::uint64_t holes = 0;
  std::uint64_t idle = 0;
  std::optional<std::uint64_t> waiting;

  std::uint64_t reserved() const {
    return live + rounding.value_or(0) + holes + idle + waiting.value_or(0);
  }
};

struct Balance {
  std::uint8_t device = 0;
  Moment moment;
  std::uint64_t total = 0;  // 0 = unknown
  std::optional<std::uint64_t> used;
  std::uint64_t live = 0;
  std::optional<std::uint64_t> rounding;
  std::uint64_t holes = 0;
  std::uint64_t idle = 0;
  std::optional<std::uint64_t> waiting;
  // Below zero when the sample of `used` is older than memory that was taken since.
  std::optional<std::int64_t> untracked;
  std::vector<HeapRow> heaps;                            // by id; those outside `used` too
  std::map<format::Heap, SegmentFigures> fragmentation;  // of the heaps that use segments

  std::uint64_t reserved() const {
    return live + rounding.value_or(0) + holes + idle + waiting.value_or(0);
  }
};

// The blocks of a device that are alive at a time.
std::vector<const trace::Block*> AliveAt(const trace::Trace& trace, std::size_t device,
                                         std::uint64_t time);

Balance BalanceAt(const trace::Trace& trace, std::size_t device, const Moment& moment);

}  // namespace cuheap::analysis
