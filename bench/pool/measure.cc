#include "bench/pool/measure.h"

#include <time.h>

#include <algorithm>
#include <cmath>

namespace cuheap::bench {
namespace {

std::int64_t Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Stopwatch::Stopwatch() : wall_(Read(CLOCK_MONOTONIC)), cpu_(Read(CLOCK_THREAD_CPUTIME_ID)) {}

Nanoseconds Stopwatch::Wall() const {
  return Nanoseconds(static_cast<double>(Read(CLOCK_MONOTONIC) - wall_));
}

Nanoseconds Stopwatch::Cpu() const {
  return Nanoseconds(static_cast<double>(Read(CLOCK_THREAD_CPUTIME_ID) - cpu_));
}

Samples::Samples() {
  constexpr std::size_t kReadings = 1001;
  while (times_.size() < kReadings) Time([] {});
  own_ = static_cast<std::int64_t>(Quantile(0.5));
  times_.clear();
}

std::int64_t Samples::Now() { return Read(CLOCK_MONOTONIC); }

void Samples::Add(const Samples& other) {
  times_.insert(times_.end(), other.times_.begin(), other.times_.end());
}

double Samples::Quantile(double part) const {
  if (times_.empty()) return 0;
  std::vector<std::int64_t> times = times_;
  const auto index =
      static_cast<std::ptrdiff_t>(std::floor(part * static_cast<double>(times.size() - 1)));
  std::nth_element(times.begin(), times.begin() + index, times.end());
  return static_cast<double>(std::max<std::int64_t>(0, times[static_cast<std::size_t>(index)]));
}

Figures Figures::Of(const std::vector<Window>& threads, const Samples& samples) {
  Window sum;
  for (const Window& thread : threads) {
    sum.pairs += thread.pairs;
    sum.wall += thread.wall;
    sum.cpu += thread.cpu;
  }
  return {.pairs = sum.pairs,
          .cpu_ns = sum.cpu.count() / sum.pairs,
          .wall_ns = sum.wall.count() / sum.pairs,
          .p50_ns = samples.Quantile(0.5),
          .p99_ns = samples.Quantile(0.99)};
}

}  // namespace cuheap::bench
