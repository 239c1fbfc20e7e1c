#include "bench/pool/operations.h"

#include <cmath>

namespace cuheap::bench {
namespace {

constexpr std::uint64_t kMostInUse = std::uint64_t{16'000} << 20;
constexpr std::uint64_t kPercentAllocate = 73;

std::uint32_t LogUniform(Random& random) {
  constexpr double kSteps = 1 << 30;
  const double part = static_cast<double>(random.Below(1 << 30)) / kSteps;
  const double ratio = static_cast<double>(kLargestBlock) / kSmallestBlock;
  return static_cast<std::uint32_t>(kSmallestBlock * std::pow(ratio, part));
}

// The sizes of what lives, and the turns that made them.
class Script {
 public:
  void Allocate(std::uint64_t bytes) {
    turns_.push_back({bytes, 0});
    live_.push_back(bytes);
    in_use_ += bytes;
    ++allocations_;
  }
  void Free(std::uint64_t index) {
    turns_.push_back({0, static_cast<std::uint32_t>(index)});
    in_use_ -= live_[index];
    live_[index] = live_.back();
    live_.pop_back();
  }

  std::size_t live() const { return live_.size(); }
  std::uint64_t in_use() const { return in_use_; }
  std::uint32_t allocations() const { return allocations_; }
  std::vector<Turn> TakeTurns() { return std::move(turns_); }

 private:
  std::vector<Turn> turns_;
  std::vector<std::uint64_t> live_;
  std::uint64_t in_use_ = 0;
  std::uint32_t allocations_ = 0;
};

}  // namespace

std::uint64_t Random::Next() {  // splitmix64
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t value = state_;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

std::vector<Exchange> Exchanges(std::uint64_t seed, std::uint32_t slots, std::uint32_t count) {
  Random random(seed);
  std::vector<Exchange> exchanges(count);
  for (Exchange& exchange : exchanges) {
    exchange.slot = static_cast<std::uint32_t>(random.Below(slots));
    exchange.bytes = LogUniform(random);
  }
  return exchanges;
}

std::vector<Turn> RandomAllocationsTurns(const RandomAllocationsRules& rules) {
  Random random(1);
  Script script;
  for (std::uint32_t turn = 0; turn < 2 * rules.allocations; ++turn) {
    const std::uint64_t bytes = 1 + random.Below(rules.largest);
    const bool chosen = random.Below(100) < kPercentAllocate;
    const bool fits =
        script.allocations() < rules.allocations && script.in_use() + bytes < kMostInUse;
    if (script.live() == 0 || (chosen && fits)) {
      script.Allocate(bytes);
    } else {
      script.Free(random.Below(script.live()));
    }
  }
  while (script.live() != 0) script.Free(script.live() - 1);
  return script.TakeTurns();
}

}  // namespace cuheap::bench
