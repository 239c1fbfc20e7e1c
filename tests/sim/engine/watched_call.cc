#include "tests/sim/engine/watched_call.h"

#include <mutex>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/call_log.h"
#include "tests/sim/engine/faults.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {

void BeginWatching() {
  static std::once_flag once;
  std::call_once(once, [] {
    OpenLogFile(TheSettings().log);
    for (const FaultRule& rule : TheSettings().faults) ArmFault(rule);
  });
}

CUresult WatchedCall::Begin(bool needs_initialisation) {
  BeginWatching();
  const CUresult result = AskGate(needs_initialisation);
  if (result != CUDA_SUCCESS) return result;
  return GateHas(GateBit::kFaults) ? FaultOf(function_) : CUDA_SUCCESS;
}

void WatchedCall::End(CUresult result) {
  if (GateHas(GateBit::kLogFile)) WriteLogLine(symbol_, arguments_, result);
}

}  // namespace cuheap::sim
