#include "allocator/ledger/step_clock.h"

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

StepClock::Effect StepClock::Tick(Signal signal, std::uint64_t now) {
  Record(signal, now);
  Effect effect = Effect::kStepEnded;
  if (signal > leading_) return Effect::kNone;
  if (signal < leading_) {
    const bool first = leading_ == Signal::kNone;
    const bool yields = first || leading_ == Signal::k_bytes || steps_ - since_ < kWarmUpSteps;
    if (!yields && signal != Signal::k_program) return Effect::kNone;
    since_ = steps_;
    leading_ = signal;
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
