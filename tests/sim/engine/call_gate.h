// The gate every driver function passes: not before cuInit, not in a forked child, and into the
// call log when there is one. One atomic load on the fast path.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace cuheap::sim {

// 0: initialised, nothing to log. Written by Initialise and by the fork handler.
extern std::atomic<int> gate_state;
inline bool GateIsOpen() { return gate_state.load(std::memory_order_acquire) == 0; }

// Opens the machine; the work of cuInit. Any number of times, any thread.
CUresult Initialise();
// For calls that find the gate not open. SUCCESS: go on. NOT_INITIALIZED: before cuInit, or in the
// child of an initialised process.
CUresult AskGate(bool needs_initialisation);
// One line: pid thread name(arguments) = code.
void LogCall(const char* name, std::initializer_list<std::uint64_t> arguments, CUresult result);

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
