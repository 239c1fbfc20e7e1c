#include "tools/analysis/verdict.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "tools/analysis/statistics.h"

namespace cuheap::analysis {
namespace {

constexpr double kRisingScore = 3.3;   // Mann-Kendall: one series in 2000 gets there by chance
constexpr double kLeastGrowth = 0.01;  // of the site's peak
constexpr double kMostFreed = 0.5;     // of the old blocks
constexpr std::size_t kWindows = 4;
constexpr std::size_t kLeastEndsInWindow = 4;

std::uint64_t LowestLifetimeOf(std::size_t bucket) {
  return bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1);
}

// The totals as they stood at the last step end: a job that frees everything at its end would look
// as if it had always freed. Behind the last step end no step ends, so an age there is the lifetime
// that was counted.
trace::Totals AtLastStepEnd(trace::Totals totals, const SiteSeries& series) {
  for (const std::uint32_t age : series.freed_later) {
    const auto bucket = std::min<std::size_t>(std::bit_width(age), totals.steps_lived.size() - 1);
    if (totals.steps_lived[bucket] > 0) --totals.steps_lived[bucket];
    if (totals.freed_blocks > 0) --totals.freed_blocks;
  }
  return totals;
}

std::size_t LongestBucket(const trace::Totals& totals) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < totals.steps_lived.size(); ++b) {
    if (totals.steps_lived[b] > 0) longest = b;
  }
  return longest;
}

// The share of old blocks that were ever freed; old are those that lived longer than nine in ten of
// the freed ones. The histogram knows lifetimes to a factor of two, so "longer" is: in a higher
// bucket. Without old blocks nothing speaks for a leak.
double FreedShareOfOld(const SiteSeries& series, const trace::Totals& totals) {
  const auto& lived = totals.steps_lived;
  const double freed = std::accumulate(lived.begin(), lived.end(), 0.0);
  std::size_t bucket = 0;
  std::uint64_t threshold = 0;
  double below = 0;
  if (freed > 0) {
    while (bucket < lived.size() && below + lived[bucket] < 0.9 * freed) below += lived[bucket++];
    if (bucket < lived.size()) below += lived[bucket];
    threshold = std::uint64_t{1} << bucket;
  }
  const double old_freed = freed - below;
  const auto old_alive = static_cast<double>(
      std::count_if(series.ages.begin(), series.ages.end(),
                    [threshold](std::uint32_t age) { return age >= threshold; }));
  return old_alive == 0 ? 1 : old_freed / (old_freed + old_alive);
}

struct Windows {
  std::array<std::uint64_t, kWindows> lowest{};
  std::array<std::uint64_t, kWindows> fewest_blocks{};
  std::size_t fewest_ends = 0;
};

// Nothing when a window has no kept step end.
std::optional<Windows> WindowsOf(const Horizon& horizon, const SiteSeries& series) {
  const std::uint64_t judged = horizon.judged_steps();
  Windows windows;
  std::array<std::size_t, kWindows> ends{};
  for (std::size_t i = 0; i < horizon.ends.size(); ++i) {
    if (horizon.ends[i] <= horizon.warmup || horizon.ends[i] > horizon.last_step) continue;
    const std::size_t w =
        static_cast<std::size_t>((horizon.ends[i] - horizon.warmup - 1) * kWindows / judged);
    const auto lower = [first = ends[w] == 0](std::uint64_t* lowest, std::uint64_t value) {
      *lowest = first ? value : std::min(*lowest, value);
    };
    lower(&windows.lowest[w], series.surviving[i]);
    lower(&windows.fewest_blocks[w], series.counts[i]);
    ++ends[w];
  }
  windows.fewest_ends = *std::min_element(ends.begin(), ends.end());
  if (windows.fewest_ends == 0) return std::nullopt;
  return windows;
}

struct Trends {
  std::vector<Point> bytes;
  std::vector<Point> surviving;
};

Trends AfterWarmup(const Horizon& horizon, const SiteSeries& series) {
  Trends trends;
  for (std::size_t i = 0; i < horizon.ends.size(); ++i) {
    if (horizon.ends[i] <= horizon.warmup) continue;
    const auto step = static_cast<double>(horizon.ends[i]);
    trends.bytes.push_back({step, static_cast<double>(series.bytes[i])});
    trends.surviving.push_back({step, static_cast<double>(series.surviving[i])});
  }
  return trends;
}

bool Grows(const Windows& windows, const Trends& trends, double slope, double judged_steps,
           double peak_bytes, double freed_share) {
  const std::array<std::uint64_t, kWindows>& m = windows.lowest;
  if (windows.fewest_blocks.back() <= windows.fewest_blocks.front()) return false;
  // Four windows of pure chance rise one time in 24, a series that rises by chance through all its
  // points does not.
  const bool through_all = m[0] < m[1] && m[1] < m[2] && m[2] < m[3];
  if (through_all && MannKendallScore(trends.surviving) > kRisingScore) return true;
  return m[3] > m[0] && freed_share < kMostFreed &&
         slope * judged_steps > kLeastGrowth * peak_bytes &&
         MannKendallScore(trends.bytes) > kRisingScore;
}

Confidence ConfidenceIn(const Horizon& horizon, const Windows& windows, const trace::Totals& totals,
                        bool slowing) {
  constexpr std::uint64_t kFlushPeriods = 4;
  const std::uint64_t longest = LowestLifetimeOf(LongestBucket(totals));
  const bool slow_site = longest * kFlushPeriods > horizon.judged_steps();
  const bool short_run = horizon.last_step < kLeastConfidentSteps;
  return slowing || slow_site || short_run || windows.fewest_ends < kLeastEndsInWindow
             ? Confidence::kMedium
             : Confidence::kHigh;
}

Verdict WithoutGrowth(const SiteSeries& series, const trace::Totals& totals, bool judged) {
  if (series.born_later == 0) return Verdict::kHeld;
  return judged && totals.blocks >= kLeastBirths ? Verdict::kSteady : Verdict::kLate;
}

}  // namespace

const char* NameOf(Verdict verdict) {
  constexpr const char* kNames[] = {"none", "growing", "late", "held", "steady", "workspace"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* NameOf(Confidence confidence) {
  constexpr const char* kNames[] = {"", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

Judgement Judge(const Horizon& horizon, const SiteSeries& series, const trace::Totals& all) {
  Judgement judgement;
  const trace::Totals totals = AtLastStepEnd(all, series);
  judgement.too_short = horizon.judged_steps() < kLeastJudgedSteps;
  if (series.blocks == 0 || horizon.last_step == 0) return judgement;
  const std::optional<Windows> windows =
      judgement.too_short ? std::nullopt : WindowsOf(horizon, series);
  judgement.verdict = WithoutGrowth(series, totals, windows.has_value());
  if (!windows.has_value()) return judgement;
  const Trends trends = AfterWarmup(horizon, series);
  const std::array<std::uint64_t, kWindows>& m = windows->lowest;
  judgement.lowest = m;
  judgement.slope = SenSlope(trends.bytes);
  const double risen = trends.surviving.back().value - trends.surviving.front().value;
  if (risen > 0) {
    judgement.steps_per_survivor =
        (trends.surviving.back().step - trends.surviving.front().step) / risen;
  }
  if (totals.blocks < kLeastBirths) return judgement;
  const auto peak = static_cast<double>(
      std::max(totals.peak_bytes, *std::max_element(series.bytes.begin(), series.bytes.end())));
  if (!Grows(*windows, trends, judgement.slope, static_cast<double>(horizon.judged_steps()), peak,
             FreedShareOfOld(series, totals))) {
    return judgement;
  }
  judgement.verdict = Verdict::kGrowing;
  const auto rise = [&m](std::size_t i) {
    return static_cast<double>(m[i + 1]) - static_cast<double>(m[i]);
  };
  // Also when nothing was added in the whole last window: a cache that is full by now.
  judgement.slowing = rise(2) < rise(0) / 2 || series.surviving.back() <= m[3];
  judgement.confidence = ConfidenceIn(horizon, *windows, totals, judgement.slowing);
  return judgement;
}

}  // namespace cuheap::analysis
