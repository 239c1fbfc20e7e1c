// What the simulated device knows about itself, where it is the device under test.
#pragma once

#include "tests/sim/engine/sim_api.h"

namespace cuheap::contract {

#define CUHEAP_CONTRACT_SIMULATION(F) \
  F(fail)                             \
  F(clear_faults)                     \
  F(faults_fired)                     \
  F(races)                            \
  F(forget_races)                     \
  F(log_start)                        \
  F(log_stop)                         \
  F(log_clear)                        \
  F(log_size)                         \
  F(log_read)

struct SimulationFunctions {
#define CUHEAP_CONTRACT_MEMBER(name) decltype(&cuheap_sim_##name) name = nullptr;
  CUHEAP_CONTRACT_SIMULATION(CUHEAP_CONTRACT_MEMBER)
#undef CUHEAP_CONTRACT_MEMBER
};

// Null on a GPU; null too under CUHEAP_CONTRACT_AS_GPU, which shows that the suite needs nothing
// that a GPU does not have.
const SimulationFunctions* Simulation();

enum class Clock { kEager, kManual, kSeeded, kDevice };
// When queued work is done. A GPU does it by itself.
Clock TheClock();

}  // namespace cuheap::contract
