#include "tools/analysis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/analysis/words.h"

namespace cuheap::analysis {
namespace {

std::string BlocksText(std::uint64_t blocks, std::uint64_t surviving, std::uint64_t bytes) {
  const std::uint64_t each = surviving == 0 ? 1 : (blocks + surviving / 2) / surviving;
  const std::string size = SizeText(static_cast<double>(bytes));
  return each <= 1 ? fmt::format("one more {} block", size)
                   : fmt::format("{} more blocks of {}", each, size);
}

std::string FrequencyText(double steps_per_survivor) {
  constexpr double kNearlyEach = 1.1;
  if (steps_per_survivor <= 0) return "from time to time";
  if (steps_per_survivor <= kNearlyEach) return "each step";
  const auto n = static_cast<std::uint64_t>(std::llround(steps_per_survivor));
  return n < 2 ? "most steps" : fmt::format("about every {} step", OrdinalText(n));
}

std::string GrowingText(const Horizon& horizon, const SiteSeries& series,
                        const Judgement& judgement, const SiteFacts& facts) {
  const std::uint64_t surviving = series.surviving.back();
  std::string text =
      fmt::format("{} keeps {} {}, {} of {} steps, ", facts.place,
                  BlocksText(series.blocks, surviving, facts.median_bytes),
                  FrequencyText(judgement.steps_per_survivor), surviving, horizon.last_step);
  text += facts.freed == 0 ? "nothing freed"
                           : fmt::format("{} of {} freed", facts.freed,
                                         CountText(facts.born, "block", "blocks"));
  if (judgement.slowing) text += "; slowing: may be a cache that is filling";
  return text;
}

// "step 3", "steps 3 to 9": a block born after two steps had ended was born in the third.
std::string BirthsText(const SiteFacts& facts) {
  if (facts.oldest_birth == facts.newest_birth)
    return fmt::format("step {}", facts.oldest_birth + 1);
  return fmt::format("steps {} to {}", facts.oldest_birth + 1, facts.newest_birth + 1);
}

}  // namespace

std::string Evidence(const Horizon& horizon, const SiteSeries& series, const Judgement& judgement,
                     const SiteFacts& facts) {
  const std::string blocks = CountText(series.blocks, "block", "blocks");
  switch (judgement.verdict) {
    case Verdict::kNone:
      return "";
    case Verdict::kGrowing:
      return GrowingText(horizon, series, judgement, facts);
    case Verdict::kHeld:
      return fmt::format("{} born in warm-up ({})", blocks, BirthsText(facts));
    case Verdict::kSteady:
      return fmt::format("{} born after warm-up ({}), the count does not rise", blocks,
                         BirthsText(facts));
    case Verdict::kWorkspace:
      return fmt::format("workspace of a library, kept by design ({})", facts.workspace_function);
    case Verdict::kLate:
      break;
  }
  if (judgement.too_short) {
    return fmt::format("{} born after warm-up ({}): the run is too short to judge", blocks,
                       BirthsText(facts));
  }
  return fmt::format("{} born after warm-up ({}), {} in all: too few to judge", blocks,
                     BirthsText(facts), CountText(facts.born, "birth", "births"));
}

}  // namespace cuheap::analysis
