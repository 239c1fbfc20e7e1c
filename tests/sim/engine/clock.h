// When queued work is done (setting CUHEAP_SIM_CLOCK):
//   eager     when it is submitted
//   manual    when a test says so (sim_api.h), or when somebody waits for it
//   seeded:N  a random share of what could be done, at every call; the same N does the same
// In all of them a wait ends only when what it waits for is done.
#pragma once

#include <cstdint>
#include <string_view>

namespace cuheap::sim {

enum class ClockKind { kEager, kManual, kSeeded };

struct ClockSetting {
  ClockKind kind = ClockKind::kEager;
  std::uint64_t seed = 0;
};

bool ReadClock(std::string_view text, ClockSetting* out);

// Whether work goes through queues: always unless the clock is eager and nobody looks for races,
// and then from the first work on that has to wait for a value in memory.
bool IsQueued();
void BeginQueues();
// Whether accesses are checked against each other. Settled before the first work.
bool LooksForRaces();

}  // namespace cuheap::sim
