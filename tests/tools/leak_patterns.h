// Synthetic sites with known answers: how the blocks of one site come and go over a run of 600
// steps. The rule that tells leaks is measured against them, so their parameters are part of the
// bar.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace cuheap {

// One site of a job. Blocks are named by numbers that the site hands out.
class PatternSite {
 public:
  virtual ~PatternSite() = default;
  virtual std::uint64_t Born(std::uint64_t bytes) = 0;
  virtual void Freed(std::uint64_t block) = 0;
  virtual void StepEnds() = 0;
};

inline constexpr int kPatternSteps = 600;
using PatternRandom = std::mt19937_64;

struct Pattern {
  const char* name;
  void (*play)(PatternSite& site, PatternRandom& random);
};

std::span<const Pattern> HarmlessPatterns();
std::span<const Pattern> LeakPatterns();
// Harder ones, where the bar is a number of runs and not all or nothing.
Pattern GrowingSizes();
Pattern TriplingLoad();
Pattern HeavyTail();
Pattern ShapeCache();

}  // namespace cuheap
