// The leak verdict on one site: pure arithmetic on the series of its kept step ends.
//
// "Alive at exit" is not a leak on a GPU; what grows is judged by G(t), the number of distinct
// birth steps among the blocks that are alive at step end t. Bytes mislead (sizes and load vary),
// counts of distinct birth steps do not.
//
//   warm-up | window 1 | window 2 | window 3 | window 4 |       m_i = lowest G(t) in window i
//
//   growing  if  the number of live blocks rises (lowest in window 4 > lowest in window 1; a full
//   cache keeps its number), and
//                m1 < m2 < m3 < m4, and G rises as a series too (Mann-Kendall z > 3.3)
//            or  the live bytes rise (z > 3.3) by more than 1 % of the site's peak over the judged
//            steps (Sen),
//                less than half of the old blocks were ever freed, and m4 > m1
//   high confidence  if  m4 - m3 >= (m2 - m1) / 2, else medium: it may be a cache that is filling
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/trace/trace.h"

namespace cuheap::analysis {

enum class Verdict {
  kNone,       // nothing of it is alive at the last step end, or there is no step to judge by
  kGrowing,    // error
  kLate,       // warning: born after warm-up, too few to judge
  kHeld,       // born in warm-up
  kSteady,     // born later, count constant
  kWorkspace,  // a library's workspace: kept by design
};
enum class Confidence { kNone, kMedium, kHigh };
const char* NameOf(Verdict verdict);
const char* NameOf(Confidence confidence);  // "" for kNone

inline constexpr std::uint64_t kLeastJudgedSteps = 32;      // 4 windows of 8 steps
inline constexpr std::uint64_t kLeastConfidentSteps = 200;  // below, confidence is at most medium
inline constexpr std::uint64_t kLeastBirths = 5;

// The clock that all sites are judged by.
struct Horizon {
  std::uint64_t warmup = 0;  // steps up to this one are warm-up
  std::uint64_t last_step = 0;
  std::vector<std::uint64_t> ends;  // steps of the kept step ends, rising

  std::uint64_t judged_steps() const { return last_step > warmup ? last_step - warmup : 0; }
  // A block is born in warm-up if the step that it was born in is.
  bool InWarmup(std::uint32_t birth_step) const { return birth_step < warmup; }
};

struct SiteSeries {
  std::vector<std::uint32_t> surviving;  // G at Horizon::ends
  std::vector<std::uint64_t> bytes;      // live bytes there
  std::vector<std::uint32_t> counts;     // live blocks there
  // Of the blocks alive at the last step end:
  std::uint64_t blocks = 0;
  std::uint64_t born_later = 0;  // after warm-up
  std::vector<std::uint32_t>
      freed_later;  // ages of those that were freed behind it: what a job frees on its way out
  std::vector<std::uint32_t> ages;  // in steps
};

struct Judgement {
  Verdict verdict = Verdict::kNone;
  Confidence confidence = Confidence::kNone;
  double slope = 0;        // Sen, bytes a step over the judged steps
  bool too_short = false;  // the run, not the site
  bool slowing = false;
  std::array<std::uint64_t, 4> lowest{};  // m1..m4
  double steps_per_survivor = 0;          // judged steps for one more surviving step; 0 = none
};

Judgement Judge(const Horizon& horizon, const SiteSeries& series, const trace::Totals& totals);

}  // namespace cuheap::analysis
