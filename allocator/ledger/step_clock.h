// The clock of the program: ticks of every signal, and which signal counts the steps.
//
// Laws
//   1. The strongest signal that goes on ticking counts the steps. A weaker one takes over only
//   when the leader has fallen silent: an optimizer that allocates in its first step alone shows
//   once, and a later phase of the program may not have it. The program's own calls are waited for
//   for ever.
//   2. A stronger signal takes over within the first kWarmUpSteps steps of the present clock; from
//   the byte clock, which only stands in for a signal, to the program's own calls always, and to a
//   leader that comes back from its silence.
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
    std::uint64_t since_leader = 0;  // ticks since the leader's last one
  };
  void Record(format::Signal signal, std::uint64_t now);
  bool LeaderIsSilent(format::Signal signal) const;
  bool YieldsTo(format::Signal signal) const;
  void CountSinceLeader(format::Signal signal);

  Chunks& chunks_;
  Series series_[kSignals];
  format::Signal leading_ = format::Signal::kNone;
  std::uint32_t silenced_ = 0;  // leaders that fell silent, a bit a signal
  std::uint64_t steps_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace cuheap
