// Accounts of what the calls of a program would have taken on a device (figures: latency.def), so
// that two ways of using the driver can be compared without one. Nothing sleeps, and the clock of
// the simulation is not touched. Off unless CUHEAP_SIM_LATENCY=on or a test asks (sim_api.h).
//
// Laws: 1. Calls that succeed, or say NOT_READY, are charged; others are not.
//       2. The process's total is the sum of its threads' totals.
// Threads: any.
#pragma once

#include <cstdint>
#include <span>

namespace cuheap::sim {

enum class DriverFunction : int;

void ChargeLatency(bool on);

// Charges a call to the calling thread and the process, and says how much that is. `device_gave`:
// the call took memory from a device.
std::uint64_t Charge(DriverFunction function, std::span<const std::uint64_t> arguments,
                     bool device_gave);

// Nanoseconds since the process began; they are never set back.
std::uint64_t LatencyOfProcess();
std::uint64_t LatencyOfThread();

}  // namespace cuheap::sim
