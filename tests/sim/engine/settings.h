// What the simulated machine looks like, read once from the environment (table: settings.def).
// A value that cannot be read is named on stderr and makes cuInit fail.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/faults.h"
#include "tests/sim/engine/peer_links.h"
#include "tests/sim/engine/shutdown.h"

namespace cuheap::sim {

inline constexpr int kMaxDevices = 16;

struct Capability {
  int major = 0;
  int minor = 0;
};

struct Settings {
  using Count = int;
  using Size = std::uint64_t;
  using Text = std::string;
  using Switch = bool;
  using EntryPoints = std::set<std::string, std::less<>>;
  using Faults = std::vector<FaultRule>;
  using Capability = sim::Capability;
  using Clock = ClockSetting;
  using Shutdown = ShutdownTime;
  enum class Nvml { kFull, kNoPermission, kNotSupported };
  using Peers = PeerLinks;
#define SETTING(reader, field, variable, standard, help) reader field{};
#include "tests/sim/engine/settings.def"
#undef SETTING
  bool valid = true;
};

// Any thread; never destroyed.
const Settings& TheSettings();

// CUHEAP_SIM_WITHOUT alone, for the loading of the library: a program may still set the others
// before its first call. Empty where it cannot be read.
Settings::EntryPoints ReadWithout();

}  // namespace cuheap::sim
