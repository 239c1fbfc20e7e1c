#include "tests/tools/leak_patterns.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <vector>

namespace cuheap {
namespace {

// Small, so that the byte clock stays behind the program's own.
constexpr std::uint64_t kBytes = 4096;

bool Chance(double probability, PatternRandom& random) {
  return std::bernoulli_distribution(probability)(random);
}
int Between(int low, int high, PatternRandom& random) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// Blocks with a step in which they are freed.
class Scheduled {
 public:
  explicit Scheduled(PatternSite& site) : site_(site) {}
  void Born(std::uint64_t bytes, double free_step) {
    if (free_step < kPatternSteps) {
      frees_[static_cast<int>(free_step)].push_back(site_.Born(bytes));
    } else {
      site_.Born(bytes);
    }
  }
  void EndStep(int step) {
    for (const std::uint64_t block : frees_[step]) site_.Freed(block);
    frees_.erase(step);
    site_.StepEnds();
  }

 private:
  PatternSite& site_;
  std::map<int, std::vector<std::uint64_t>> frees_;
};

void Temporary(PatternSite& site, int count) {
  for (int i = 0; i < count; ++i) site.Freed(site.Born(kBytes));
}

void Weights(PatternSite& site, PatternRandom&) {
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; step == 0 && i < 200; ++i) site.Born(kBytes);
    site.StepEnds();
  }
}

void OptimizerState(PatternSite& site, PatternRandom& random) {
  std::vector<int> births(6);
  for (int i = 0; i < 200; ++i) ++births[static_cast<std::size_t>(Between(0, 5, random))];
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; step < 6 && i < births[static_cast<std::size_t>(step)]; ++i) site.Born(kBytes);
    site.StepEnds();
  }
}

void LazyWorkspaces(PatternSite& site, PatternRandom& random) {
  std::vector<int> births;
  for (int i = 0; i < 10; ++i) births.push_back(Between(0, kPatternSteps / 3 - 1, random));
  for (int step = 0; step < kPatternSteps; ++step) {
    for (auto i = std::count(births.begin(), births.end(), step); i > 0; --i) site.Born(kBytes);
    site.StepEnds();
  }
}

void Temporaries(PatternSite& site, PatternRandom&) {
  for (int step = 0; step < kPatternSteps; ++step) {
    Temporary(site, 300);
    site.StepEnds();
  }
}

void EvaluationSpike(PatternSite& site, PatternRandom&) {
  for (int step = 0; step < kPatternSteps; ++step) {
    Temporary(site, step % 50 == 49 ? 800 : 300);
    site.StepEnds();
  }
}

void Ring(PatternSite& site, PatternRandom& random) {
  const auto depth = static_cast<std::size_t>(Between(5, 30, random));
  std::deque<std::uint64_t> ring;
  for (int step = 0; step < kPatternSteps; ++step) {
    ring.push_back(site.Born(kBytes));
    if (ring.size() > depth) {
      site.Freed(ring.front());
      ring.pop_front();
    }
    site.StepEnds();
  }
}

void RandomLifetimes(PatternSite& site, PatternRandom& random) {
  Scheduled blocks(site);
  std::exponential_distribution<double> lifetime(1.0 / 20);
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; i < 5; ++i) blocks.Born(kBytes, step + lifetime(random));
    blocks.EndStep(step);
  }
}

void LruCache(PatternSite& site, PatternRandom& random) {
  constexpr std::size_t kCap = 200;
  constexpr double kBirthsPerStep = 200.0 / 180;
  std::deque<std::uint64_t> cache;
  double due = 0;
  for (int step = 0; step < kPatternSteps; ++step) {
    for (due += kBirthsPerStep; due >= 1; due -= 1) {
      if (cache.size() == kCap) {
        site.Freed(cache.front());
        cache.pop_front();
      }
      cache.push_back(site.Born(kBytes));
    }
    // A hit moves its entry to the young end.
    const auto hit = cache.begin() + Between(0, static_cast<int>(cache.size()) - 1, random);
    const std::uint64_t block = *hit;
    cache.erase(hit);
    cache.push_back(block);
    site.StepEnds();
  }
}

void Checkpoints(PatternSite& site, PatternRandom&) {
  std::deque<std::vector<std::uint64_t>> kept;
  for (int step = 0; step < kPatternSteps; ++step) {
    if (step % 50 == 49) {
      kept.emplace_back();
      for (int i = 0; i < 40; ++i) kept.back().push_back(site.Born(kBytes));
      if (kept.size() > 3) {
        for (const std::uint64_t block : kept.front()) site.Freed(block);
        kept.pop_front();
      }
    }
    site.StepEnds();
  }
}

template <int kEvery>
void LeakEvery(PatternSite& site, PatternRandom&) {
  for (int step = 0; step < kPatternSteps; ++step) {
    if (step % kEvery == kEvery - 1) site.Born(kBytes);
    site.StepEnds();
  }
}

void LeakInBusySite(PatternSite& site, PatternRandom& random) {
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t block = site.Born(kBytes);
      if (!Chance(0.03, random)) site.Freed(block);
    }
    site.StepEnds();
  }
}

void LeakUnderNoise(PatternSite& site, PatternRandom& random) {
  Scheduled blocks(site);
  std::exponential_distribution<double> lifetime(1.0 / 2);
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; i < 100; ++i) blocks.Born(kBytes, step + lifetime(random));
    if (step % 5 == 4) site.Born(kBytes);
    blocks.EndStep(step);
  }
}

void LeakInFewSteps(PatternSite& site, PatternRandom& random) {
  for (int step = 0; step < kPatternSteps; ++step) {
    if (Chance(0.02, random)) site.Born(kBytes);
    site.StepEnds();
  }
}

void SizesGrow(PatternSite& site, PatternRandom&) {
  std::deque<std::uint64_t> ring;
  double bytes = 4096;
  for (int step = 0; step < kPatternSteps; ++step) {
    bytes *= 1.01;
    for (int i = 0; i < 10; ++i) ring.push_back(site.Born(static_cast<std::uint64_t>(bytes)));
    while (ring.size() > 30) {
      site.Freed(ring.front());
      ring.pop_front();
    }
    site.StepEnds();
  }
}

void LoadTriples(PatternSite& site, PatternRandom& random) {
  Scheduled blocks(site);
  std::exponential_distribution<double> lifetime(1.0 / 20);
  for (int step = 0; step < kPatternSteps; ++step) {
    const int births = 5 + 10 * step / kPatternSteps;
    for (int i = 0; i < births; ++i) blocks.Born(kBytes, step + lifetime(random));
    blocks.EndStep(step);
  }
}

void ParetoLifetimes(PatternSite& site, PatternRandom& random) {
  Scheduled blocks(site);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int step = 0; step < kPatternSteps; ++step) {
    for (int i = 0; i < 5; ++i) blocks.Born(kBytes, step + std::pow(1 - uniform(random), -1 / 1.2));
    blocks.EndStep(step);
  }
}

void ShapesCached(PatternSite& site, PatternRandom& random) {
  double next = 1;
  for (int step = 0; step < kPatternSteps; ++step) {
    while (next <= step + std::uniform_real_distribution<double>(0, 1)(random)) {
      site.Born(kBytes);
      next *= 1.05;
    }
    site.StepEnds();
  }
}

constexpr Pattern kHarmless[] = {
    {"weights", Weights},
    {"optimizer state", OptimizerState},
    {"lazy workspaces", LazyWorkspaces},
    {"temporaries", Temporaries},
    {"evaluation spike", EvaluationSpike},
    {"ring", Ring},
    {"random lifetimes", RandomLifetimes},
    {"LRU cache", LruCache},
    {"last three checkpoints", Checkpoints},
};

constexpr Pattern kLeaks[] = {
    {"each step", LeakEvery<1>},
    {"each 10th step", LeakEvery<10>},
    {"3 % of a busy site", LeakInBusySite},
    {"each 5th step under noise", LeakUnderNoise},
    {"one per epoch", LeakEvery<100>},
    {"in 2 % of steps", LeakInFewSteps},
};

}  // namespace

std::span<const Pattern> HarmlessPatterns() { return kHarmless; }
std::span<const Pattern> LeakPatterns() { return kLeaks; }
Pattern GrowingSizes() { return {"growing sizes", SizesGrow}; }
Pattern TriplingLoad() { return {"tripling load", LoadTriples}; }
Pattern HeavyTail() { return {"heavy tail", ParetoLifetimes}; }
Pattern ShapeCache() { return {"shape cache", ShapesCached}; }

}  // namespace cuheap
