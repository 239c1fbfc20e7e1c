// The gate every driver function passes: not before cuInit, not in a forked child, not after the
// driver shut down, and past those who watch calls (watched_call.h) while there are any. Two atomic
// loads on the fast path.
#pragma once

#include <cuda.h>

#include <atomic>

namespace cuheap::sim {

// Why calls take the long way.
enum class GateBit : int {
  kNotInitialised = 1,
  kForked = 2,
  kLogFile = 4,
  kFaults = 8,
  kRecording = 16,
  kLatency = 32,
  kSeeded = 64,
  kShutDown = 128,
  kProgramCode = 256
};

// A set of GateBits; 0: initialised, and nobody watches.
extern std::atomic<int> gate_state;
// 0 in a child, raw clone included: the kernel wipes it there.
extern std::atomic<int>* own_process;
inline bool GateIsOpen() {
  return gate_state.load(std::memory_order_acquire) == 0 &&
         own_process->load(std::memory_order_relaxed) != 0;
}
inline bool GateHas(GateBit bit) { return (gate_state & static_cast<int>(bit)) != 0; }
void SetGate(GateBit bit, bool on);

// Opens the machine; the work of cuInit. Any number of times, any thread.
CUresult Initialise();
// For calls that find the gate not open. SUCCESS: go on. NOT_INITIALIZED: before cuInit, or in the
// child of an initialised process. DEINITIALIZED: after the shutdown (shutdown.h), for every call.
// NOT_PERMITTED: inside of code that the driver called (program_code.h).
CUresult AskGate(bool needs_initialisation);
// Whether there is a machine to ask about, shut down or not.
bool HasMachine();

// What the default stream handle means in the call that runs: set by the _ptsz and _ptds entries.
class PerThreadDefault {
 public:
  PerThreadDefault();
  ~PerThreadDefault();
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;
};
bool DefaultIsPerThread();

// Says once on stderr that nobody wrote this function.
CUresult NotSimulated(const char* name);

}  // namespace cuheap::sim
