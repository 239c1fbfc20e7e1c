#include "tests/sim/engine/shutdown.h"

#include <cstdlib>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

// A program may set the environment until its first call, so the setting is read at exit; a process
// that never initialised the driver has nothing to shut down.
[[maybe_unused]] const int registered_at_load = std::atexit([] {
  if (HasMachine() && TheSettings().shutdown == ShutdownTime::kEarly) ShutDown();
});

}  // namespace

bool ReadShutdownTime(std::string_view text, ShutdownTime* out) {
  if (text == "off") {
    *out = ShutdownTime::kOff;
  } else if (text == "at-exit-early") {
    *out = ShutdownTime::kEarly;
  } else if (text == "at-exit-late") {
    *out = ShutdownTime::kLate;
  } else {
    return false;
  }
  return true;
}

void ShutDown() { SetGate(GateBit::kShutDown, true); }

void ShutDownAtExitIfAsked() {
  if (TheSettings().shutdown == ShutdownTime::kLate) std::atexit(ShutDown);
}

}  // namespace cuheap::sim
