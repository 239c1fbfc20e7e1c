#include "tools/analysis/untracked.h"

#include <algorithm>
#include <set>

#include "tools/analysis/segments.h"
#include "tools/analysis/statistics.h"

namespace cuheap::analysis {
namespace {

using trace::Block;
using trace::Trace;

// The heaps that live inside segments of another: their bytes are in the segments already.
std::set<format::Heap> InnerHeaps(const Trace& trace) {
  std::set<format::Heap> inner;
  for (const Block& block : trace.blocks) {
    if (IsSegment(block)) inner.insert(block.segment_heap);
  }
  return inner;
}

}  // namespace

std::optional<double> UntrackedGrowth(const Trace& trace, std::size_t device,
                                      const Horizon& horizon) {
  constexpr double kScore = 3.3;
  constexpr double kLeastShare = 0.01;
  if (horizon.judged_steps() < kLeastJudgedSteps) return std::nullopt;
  std::vector<const trace::Instant*> ends;
  for (const trace::Instant& instant : trace.instants) {
    if (instant.kind == format::InstantKind::kStepEnd && instant.step > horizon.warmup &&
        instant.devices[device].sample_time != 0) {
      ends.push_back(&instant);
    }
  }
  std::vector<std::uint64_t> taken(ends.size());
  std::vector<std::uint64_t> given(ends.size());
  const std::set<format::Heap> inner = InnerHeaps(trace);
  for (const Block& block : trace.blocks) {
    if (block.device != device || !trace::FactsOf(block.heap).in_used || inner.contains(block.heap))
      continue;
    const auto later = [](const trace::Instant* end, std::uint64_t time) {
      return end->time < time;
    };
    const auto birth = std::lower_bound(ends.begin(), ends.end(), block.birth_time, later);
    if (birth != ends.end())
      taken[static_cast<std::size_t>(birth - ends.begin())] += block.block_bytes;
    if (block.free_time == 0) continue;
    const auto death = std::lower_bound(ends.begin(), ends.end(), block.free_time, later);
    if (death != ends.end())
      given[static_cast<std::size_t>(death - ends.begin())] += block.block_bytes;
  }
  std::vector<Point> series;
  double known = 0;
  double used = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    known += static_cast<double>(taken[i]) - static_cast<double>(given[i]);
    used = static_cast<double>(ends[i]->devices[device].used_bytes);
    series.push_back({static_cast<double>(ends[i]->step), used - known});
  }
  const double slope = SenSlope(series);
  const bool grows = MannKendallScore(series) > kScore &&
                     slope * static_cast<double>(horizon.judged_steps()) > kLeastShare * used;
  return grows ? std::optional(slope) : std::nullopt;
}

}  // namespace cuheap::analysis
