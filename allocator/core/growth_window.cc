#include "allocator/core/growth_window.h"

#include <algorithm>

namespace cuheap::core {
namespace {

// Free and unmapped blocks side by side.
struct OpenRun {
  BlockId first;
  BlockId behind;  // the block behind the run, or none
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool IsOpen(BlockState state) {
  return state == BlockState::kFree || state == BlockState::kUnmapped;
}

OpenRun RunFrom(const BestFit& fit, BlockId first) {
  OpenRun run{first, first, fit[first].begin, fit[first].end()};
  while (run.behind && IsOpen(fit[run.behind].state)) {
    run.end = fit[run.behind].end();
    run.behind = fit[run.behind].after;
  }
  return run;
}

class Search {
 public:
  Search(const BestFit& fit, Bytes wanted, Bytes page)
      : fit_(fit), wanted_(wanted.count()), page_(page.count()) {}

  void Look(const OpenRun& run) {
    if (run.end - run.begin < wanted_) return;
    for (BlockId id = run.first; id != run.behind; id = fit_[id].after) {
      const BestFit::Block& block = fit_[id];
      if (run.end - block.begin >= wanted_) Offer(run, block.begin);
      if (block.end() - run.begin >= wanted_) Offer(run, block.end() - wanted_);
    }
  }

  Window best() const { return best_; }

 private:
  void Offer(const OpenRun& run, std::uint64_t begin) {
    const Bytes missing(MissingIn(run, begin, begin + wanted_));
    const bool better =
        !best_ || missing < best_.missing || (missing == best_.missing && begin < best_.begin);
    if (better) best_ = {begin, Bytes(wanted_), missing};
  }

  std::uint64_t MissingIn(const OpenRun& run, std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t missing = 0;
    for (BlockId id = run.first; id != run.behind && fit_[id].begin < end; id = fit_[id].after) {
      const BestFit::Block& block = fit_[id];
      if (block.state != BlockState::kUnmapped || block.end() <= begin) continue;
      const std::uint64_t from = std::max(begin, block.begin) & ~(page_ - 1);
      const std::uint64_t to = (std::min(end, block.end()) + page_ - 1) & ~(page_ - 1);
      missing += to - from;
    }
    return missing;
  }

  const BestFit& fit_;
  const std::uint64_t wanted_;
  const std::uint64_t page_;
  Window best_;
};

}  // namespace

Window FindWindow(const BestFit& fit, SegmentId segment, Bytes wanted, Bytes page) {
  Search search(fit, wanted, page);
  for (BlockId id = fit[segment].first; id;) {
    if (!IsOpen(fit[id].state)) {
      id = fit[id].after;
      continue;
    }
    const OpenRun run = RunFrom(fit, id);
    search.Look(run);
    id = run.behind;
  }
  return search.best();
}

}  // namespace cuheap::core
