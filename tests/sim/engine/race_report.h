// What is said about a race: the memory, the two operations, and where each was submitted. Goes to
// stderr and to the file of CUHEAP_SIM_RACES; counted for sim_api.h.
// Threads: any; takes a lock of its own.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/engine/race_oracle.h"

namespace cuheap::sim {

struct Race {
  TouchedRange range;
  AccessRecord first;
  AccessRecord second;
};

// Once for each pair of call stacks and kinds.
void ReportRace(const Race& race);

std::uint64_t RacesReported();
std::string LastRace();  // its text
void ForgetRaces();

}  // namespace cuheap::sim
