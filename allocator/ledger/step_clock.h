// The clock of the program: ticks of every signal, and which signal counts the steps.
//
// Laws
//   1. The strongest signal that has ticked counts the steps; a weaker one never takes over.
//   2. A stronger signal takes over within the first kWarmUpSteps steps of the present clock; from
//   the byte clock, which only stands in for a signal, and to the program's own calls always.
//   3. Steps only rise; clock_since_step in the header says where the present clock took over.
// Threads: the caller serialises.
#pragma once

#include <cstdint>

#include "allocator/ledger/chunks.h"

namespace cuheap {

class StepClock {
 public:
  static constexpr std::uint64_t kWarmUpSteps = 64;

  constexpr explicit StepClock(Chunks& chunks) : chunks_(chunks) {}

  enum class Effect { kNone, kStepEnded, kClockChanged };  // changed: and a step ended
  Effect Tick(format::Signal signal, std::uint64_t now);

  std::uint64_t steps() const { return steps_; }
  format::Signal leading() const { return leading_; }

 private:
  static constexpr int kSignals = static_cast<int>(format::Signal::kCount);
  static constexpr std::uint64_t kTicksKept = 4096;

  struct Series {
    format::TickRecord* ticks = nullptr;
    std::uint64_t stride = 1;
    std::uint64_t count = 0;
  };
  void Record(format::Signal signal, std::uint64_t now);

  Chunks& chunks_;
  Series series_[kSignals];
  format::Signal leading_ = format::Signal::kNone;
  std::uint64_t steps_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace cuheap
