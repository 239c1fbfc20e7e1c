#include "tools/analysis/history.h"

#include <algorithm>

#include "tools/analysis/segments.h"

namespace cuheap::analysis {
namespace {

using trace::Block;
using trace::Trace;

// A set of step ends, one bit each. Writers keep at most 48; of a file with more the newest 64 are
// used.
using Ends = std::uint64_t;
constexpr std::size_t kMostEnds = 64;

Ends AliveDuring(const Block& block, const std::vector<std::uint64_t>& times) {
  const auto first = std::lower_bound(times.begin(), times.end(), block.birth_time) - times.begin();
  const auto last =
      block.free_time == 0
          ? static_cast<std::ptrdiff_t>(times.size())
          : std::lower_bound(times.begin(), times.end(), block.free_time) - times.begin();
  if (last <= first) return 0;
  const auto count = static_cast<unsigned>(last - first);
  const Ends ones = count >= kMostEnds ? ~Ends{0} : (Ends{1} << count) - 1;
  return ones << static_cast<unsigned>(first);
}

struct Survivor {
  SiteKey key;
  std::uint32_t birth_step;
  Ends alive;
  std::uint64_t bytes;
  bool freed;
};

std::vector<Survivor> SurvivorsOf(const Trace& trace, const std::vector<std::uint64_t>& times) {
  std::vector<Survivor> survivors;
  for (const Block& block : trace.blocks) {
    const Ends alive = AliveDuring(block, times);
    if (alive == 0 || IsSegment(block)) continue;
    survivors.push_back({{block.device, block.site, block.heap},
                         block.birth_step,
                         alive,
                         block.live_bytes(),
                         block.free_time != 0});
  }
  std::sort(survivors.begin(), survivors.end(), [](const Survivor& a, const Survivor& b) {
    return std::pair(a.key, a.birth_step) < std::pair(b.key, b.birth_step);
  });
  return survivors;
}

class Series {
 public:
  explicit Series(History* history) : history_(*history) {}

  void Add(const Survivor& survivor) {
    if (current_ == nullptr || survivor.key != key_) {
      CountStep();
      key_ = survivor.key;
      current_ = &history_.sites[key_];
      current_->surviving.resize(history_.times.size());
      current_->bytes.resize(history_.times.size());
      current_->counts.resize(history_.times.size());
      step_ = survivor.birth_step;
    } else if (survivor.birth_step != step_) {
      CountStep();
      step_ = survivor.birth_step;
    }
    step_alive_ |= survivor.alive;
    for (std::size_t i = 0; i < history_.times.size(); ++i) {
      if ((survivor.alive >> i & 1) == 0) continue;
      current_->bytes[i] += survivor.bytes;
      ++current_->counts[i];
    }
    if ((survivor.alive >> (history_.times.size() - 1) & 1) != 0) AddAliveAtLast(survivor);
  }

  // One more surviving step wherever a block of the birth step looked at is alive.
  void CountStep() {
    for (std::size_t i = 0; current_ != nullptr && i < history_.times.size(); ++i) {
      current_->surviving[i] += static_cast<std::uint32_t>(step_alive_ >> i & 1);
    }
    step_alive_ = 0;
  }

 private:
  void AddAliveAtLast(const Survivor& survivor) {
    ++current_->blocks;
    const Horizon& horizon = history_.horizon;
    if (!horizon.InWarmup(survivor.birth_step)) ++current_->born_later;
    const std::uint64_t age =
        horizon.last_step > survivor.birth_step ? horizon.last_step - survivor.birth_step : 0;
    const auto steps = static_cast<std::uint32_t>(std::min<std::uint64_t>(age, 0xffffffffu));
    current_->ages.push_back(steps);
    if (survivor.freed) current_->freed_later.push_back(steps);
  }

  History& history_;
  SiteKey key_{};
  SiteSeries* current_ = nullptr;
  std::uint32_t step_ = 0;
  Ends step_alive_ = 0;
};

}  // namespace

History HistoryOf(const Trace& trace, std::optional<std::uint64_t> warmup) {
  History history;
  Horizon& horizon = history.horizon;
  for (const trace::Instant& instant : trace.instants) {
    if (instant.kind != format::InstantKind::kStepEnd || instant.step == 0) continue;
    if (!horizon.ends.empty() && instant.step <= horizon.ends.back()) continue;
    horizon.ends.push_back(instant.step);
    history.times.push_back(instant.time);
  }
  if (horizon.ends.size() > kMostEnds) {
    const auto surplus = static_cast<std::ptrdiff_t>(horizon.ends.size() - kMostEnds);
    horizon.ends.erase(horizon.ends.begin(), horizon.ends.begin() + surplus);
    history.times.erase(history.times.begin(), history.times.begin() + surplus);
  }
  if (horizon.ends.empty()) return history;
  horizon.last_step = horizon.ends.back();
  horizon.warmup = warmup.value_or(horizon.last_step / 3);
  Series series(&history);
  for (const Survivor& survivor : SurvivorsOf(trace, history.times)) series.Add(survivor);
  series.CountStep();
  return history;
}

}  // namespace cuheap::analysis
