// The bar of the leak rule: synthetic sites with known answers, written by the ledger, read back,
// judged by the reader's own code.
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/leak_patterns.h"
#include "tests/tools/trace_maker.h"
#include "tools/analysis/history.h"
#include "tools/analysis/verdict.h"

namespace cuheap {
namespace {

constexpr int kSeeds = 20;

class LedgerSite final : public PatternSite {
 public:
  explicit LedgerSite(TraceMaker* maker)
      : maker_(*maker), site_(maker->Site(format::Heap::k_driver, {"train.py", "step", 14})) {}

  std::uint64_t Born(std::uint64_t bytes) override {
    const std::uint64_t block = next_++;
    maker_.Alloc(format::Heap::k_driver, block << 20, bytes, site_);
    return block;
  }
  void Freed(std::uint64_t block) override { maker_.Free(format::Heap::k_driver, block << 20); }
  void StepEnds() override { maker_.Step(); }

 private:
  TraceMaker& maker_;
  SiteId site_;
  std::uint64_t next_ = 1;
};

struct Tally {
  int growing = 0;
  int high = 0;
};

Tally Play(const Pattern& pattern) {
  Tally tally;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    TraceMaker maker;
    LedgerSite site(&maker);
    PatternRandom random(static_cast<std::uint64_t>(seed));
    pattern.play(site, random);
    const trace::Trace trace = maker.Finish();
    EXPECT_EQ(trace.steps, static_cast<std::uint64_t>(kPatternSteps));
    const analysis::History history = analysis::HistoryOf(trace, std::nullopt);
    for (const auto& [key, series] : history.sites) {
      const analysis::Judgement judgement =
          analysis::Judge(history.horizon, series, trace.totals_of(key.site));
      if (judgement.verdict != analysis::Verdict::kGrowing) continue;
      ++tally.growing;
      if (judgement.confidence == analysis::Confidence::kHigh) ++tally.high;
    }
  }
  return tally;
}

class HarmlessTest : public testing::TestWithParam<Pattern> {};
TEST_P(HarmlessTest, NoRunIsFlagged) { EXPECT_EQ(Play(GetParam()).growing, 0) << GetParam().name; }

class LeakTest : public testing::TestWithParam<Pattern> {};
TEST_P(LeakTest, EveryRunIsFlagged) {
  EXPECT_EQ(Play(GetParam()).growing, kSeeds) << GetParam().name;
}

std::string NameOf(const testing::TestParamInfo<Pattern>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Patterns, HarmlessTest,
                         testing::ValuesIn(HarmlessPatterns().begin(), HarmlessPatterns().end()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Patterns, LeakTest,
                         testing::ValuesIn(LeakPatterns().begin(), LeakPatterns().end()), NameOf);

TEST(HarderPatternTest, SizesThatGrowAreNotALeak) { EXPECT_EQ(Play(GrowingSizes()).growing, 0); }
TEST(HarderPatternTest, HeavyTailsAreNotALeak) { EXPECT_EQ(Play(HeavyTail()).growing, 0); }
TEST(HarderPatternTest, ACacheThatTrulyGrowsIsFlagged) {
  EXPECT_EQ(Play(ShapeCache()).growing, kSeeds);
}

// More work in flight is more memory; what matters is that nobody is told with certainty that it
// leaks.
TEST(HarderPatternTest, LoadThatTriplesIsSeldomFlaggedAndNeverWithHighConfidence) {
  const Tally tally = Play(TriplingLoad());
  EXPECT_LE(tally.growing, 5);
  EXPECT_EQ(tally.high, 0);
}

}  // namespace
}  // namespace cuheap
