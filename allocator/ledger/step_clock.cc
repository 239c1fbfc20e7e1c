#include "allocator/ledger/step_clock.h"

#include <algorithm>

namespace cuheap {
namespace {

using format::Signal;
using format::TickRecord;

}  // namespace

void StepClock::Record(Signal signal, std::uint64_t now) {
  Series& series = series_[static_cast<int>(signal)];
  const std::uint64_t number = ++series.count;
  chunks_.header()->signal_ticks[static_cast<int>(signal)].store(number, std::memory_order_relaxed);
  if (series.ticks == nullptr) {
    format::ChunkHeader* chunk =
        chunks_.Append(format::ChunkType::kTick, sizeof(TickRecord),
                       Bytes(kTicksKept * sizeof(TickRecord)), static_cast<std::uint32_t>(signal));
    if (chunk == nullptr) {
      chunks_.header()->dropped.marks.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    series.ticks = reinterpret_cast<TickRecord*>(Chunks::Payload(chunk));
    chunk->committed.store(kTicksKept * sizeof(TickRecord), std::memory_order_release);
  }
  if (number % series.stride != 0) return;
  if (number / series.stride >= kTicksKept) {
    // Half of the ticks go. Bounded by the size of the series, and each halving doubles the time to
    // the next one.
    for (std::uint64_t i = 1; i < kTicksKept / 2; ++i) series.ticks[i] = series.ticks[2 * i];
    for (std::uint64_t i = kTicksKept / 2; i < kTicksKept; ++i) series.ticks[i] = TickRecord{};
    series.stride *= 2;
    if (number % series.stride != 0) return;
  }
  series.ticks[number / series.stride] = {now, number};
}

// Whether the other signal has gone on for much longer than it used to between two ticks of the
// leader. Module calls alone may be an evaluation, so they have to go on for longest.
bool StepClock::LeaderIsSilent(Signal signal) const {
  constexpr std::uint64_t kProven = 4;
  constexpr std::uint64_t kPatience = 64;
  constexpr std::uint64_t kPatienceWithUnproven = 8;
  constexpr std::uint64_t kEvaluation = 16;
  if (leading_ == Signal::k_program || leading_ == Signal::kNone || signal == Signal::k_bytes)
    return false;
  const Series& leader = series_[static_cast<int>(leading_)];
  const Series& other = series_[static_cast<int>(signal)];
  const std::uint64_t usual =
      (other.count - other.since_leader) / std::max<std::uint64_t>(leader.count, 1);
  const std::uint64_t patience = leader.count < kProven ? kPatienceWithUnproven : kPatience;
  return other.since_leader >
         patience * (1 + usual) * (signal == Signal::k_module ? kEvaluation : 1);
}

bool StepClock::YieldsTo(Signal signal) const {
  return leading_ == Signal::kNone || leading_ == Signal::k_bytes || signal == Signal::k_program ||
         steps_ - since_ < kWarmUpSteps || (silenced_ >> static_cast<int>(signal) & 1) != 0;
}

void StepClock::CountSinceLeader(Signal signal) {
  if (signal > leading_)
    ++series_[static_cast<int>(signal)].since_leader;
  else
    for (Series& series : series_) series.since_leader = 0;
}

StepClock::Effect StepClock::Tick(Signal signal, std::uint64_t now) {
  Record(signal, now);
  CountSinceLeader(signal);
  Effect effect = Effect::kStepEnded;
  if (signal != leading_) {
    const bool first = leading_ == Signal::kNone;
    const bool silent = signal > leading_ && LeaderIsSilent(signal);
    if (signal > leading_ ? !silent : !YieldsTo(signal)) return Effect::kNone;
    if (silent) silenced_ |= 1u << static_cast<int>(leading_);
    silenced_ &= ~(1u << static_cast<int>(signal));
    since_ = steps_;
    leading_ = signal;
    for (Series& series : series_) series.since_leader = 0;
    if (!first) effect = Effect::kClockChanged;
  }
  ++steps_;
  format::FileHeader* header = chunks_.header();
  header->clock.store(static_cast<std::uint32_t>(leading_), std::memory_order_relaxed);
  header->clock_since_step.store(since_, std::memory_order_relaxed);
  header->steps.store(steps_, std::memory_order_release);
  return effect;
}

}  // namespace cuheap
