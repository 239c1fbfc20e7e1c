#include "tests/sim/engine/clock.h"

#include <atomic>
#include <charconv>

#include "tests/sim/engine/settings.h"

namespace cuheap::sim {

bool ReadClock(std::string_view text, ClockSetting* out) {
  constexpr std::string_view kSeeded = "seeded:";
  if (text == "eager" || text == "manual") {
    out->kind = text == "eager" ? ClockKind::kEager : ClockKind::kManual;
    return true;
  }
  if (!text.starts_with(kSeeded)) return false;
  text.remove_prefix(kSeeded.size());
  out->kind = ClockKind::kSeeded;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out->seed);
  return error == std::errc() && end == text.data() + text.size();
}

namespace {
std::atomic<bool> queues_begun{false};
}  // namespace

bool IsQueued() { return LooksForRaces() || queues_begun.load(std::memory_order_acquire); }

void BeginQueues() { queues_begun = true; }

bool LooksForRaces() {
  static const bool looks =
      TheSettings().clock.kind != ClockKind::kEager || !TheSettings().races.empty();
  return looks;
}

}  // namespace cuheap::sim
