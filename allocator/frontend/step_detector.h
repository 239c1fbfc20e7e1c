// Finds the steps of a program in the Python frames of its allocations: a signal ticks when an
// allocation of a thread no longer has a frame that earlier ones had. Pure logic on StackFacts, so
// that tests script it.
//
// Laws
//   1. A tick is reported with the first allocation that no longer has the frame, before that
//   allocation is recorded: it belongs to the next step.
//   2. A signal has one leader, the (thread, call site) that ticked first; others do not tick.
//   Another one takes over after kTakeOver ticks of its own in which the leader had none.
//   3. A stack that says nothing (no Python frames, outer frames cut) ends nothing.
//
// Threads: Observe from any thread, each with its own ThreadSteps; the lock inside is taken only
// when a frame was left.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/base/mutex.h"
#include "allocator/frontend/step_frames.h"

namespace cuheap {

// The signals that ticked, by index of SignalOfFrame.
using FrameTicks = std::array<bool, kFrameSignals>;

// What a thread had at its last allocation.
struct ThreadSteps {
  std::array<std::uint64_t, kFrameSignals> present{};
  std::uint32_t number = 0;  // of the thread; given at its first tick
};

class StepDetector {
 public:
  static constexpr std::uint32_t kTakeOver = 8;

  constexpr StepDetector() = default;

  // Whether anything ticked.
  bool Observe(ThreadSteps* thread, const StackFacts& facts, FrameTicks* ticks);

 private:
  struct Source {
    std::uint32_t thread = 0;
    std::uint64_t call_site = 0;
    std::uint32_t ticks = 0;  // of a contender: since the leader's last one
    bool operator==(const Source& other) const {
      return thread == other.thread && call_site == other.call_site;
    }
  };
  struct Lead {
    Source leader;
    std::array<Source, 15> contenders{};
  };

  bool Left(ThreadSteps* thread, std::size_t signal);
  static bool Contend(Lead* lead, const Source& source);

  Mutex mutex_;  // guards what follows
  std::array<Lead, kFrameSignals> leads_{};
  std::uint32_t threads_ = 0;
};

}  // namespace cuheap
