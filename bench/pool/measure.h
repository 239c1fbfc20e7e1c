// Clocks and figures of a measurement.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace cuheap::bench {

using Nanoseconds = std::chrono::duration<double, std::nano>;

// Two clocks of one thread, from construction on.
class Stopwatch {
 public:
  Stopwatch();
  Nanoseconds Wall() const;
  Nanoseconds Cpu() const;  // of the calling thread, which constructed it

 private:
  std::int64_t wall_;
  std::int64_t cpu_;
};

struct Window {
  double pairs = 0;
  Nanoseconds wall{0};
  Nanoseconds cpu{0};
};

// Calls `step`, which does some pairs and says how many, until the time is over and `at_least`
// pairs are done.
template <class Step>
Window Repeat(std::chrono::milliseconds time, std::uint64_t at_least, Step step) {
  const Stopwatch watch;
  std::uint64_t pairs = 0;
  do {
    pairs += step();
  } while (pairs < at_least || watch.Wall() < time);
  return {static_cast<double>(pairs), watch.Wall(), watch.Cpu()};
}

// Times of single pairs, without what the clock itself takes.
class Samples {
 public:
  Samples();

  template <class Pair>
  void Time(Pair pair) {
    const std::int64_t start = Now();
    pair();
    times_.push_back(Now() - start - own_);
  }
  void Add(const Samples& other);
  // The sample that `part` of all, from 0 to 1, do not exceed; 0 if there is none.
  double Quantile(double part) const;

 private:
  static std::int64_t Now();

  std::int64_t own_ = 0;
  std::vector<std::int64_t> times_;
};

// What is known about a case, of all its threads.
struct Figures {
  double pairs = 0;
  double cpu_ns = 0;   // of a thread, a pair
  double wall_ns = 0;  // of a thread, a pair
  double p50_ns = 0;
  double p99_ns = 0;

  static Figures Of(const std::vector<Window>& threads, const Samples& samples);
};

}  // namespace cuheap::bench
