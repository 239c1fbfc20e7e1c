#include "tests/sim/engine/watched_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/call_log.h"
#include "tests/sim/engine/driver_function.h"
#include "tests/sim/engine/faults.h"
#include "tests/sim/engine/latency.h"
#include "tests/sim/engine/monotonic.h"
#include "tests/sim/engine/physical_memory.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/engine/sim_api.h"
#include "tests/sim/engine/turns.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

constinit std::atomic<int (*)()> question{nullptr};

}  // namespace

void AskAtCalls(int (*asked)()) { question = asked; }

void BeginWatching() {
  static std::once_flag once;
  std::call_once(once, [] {
    OpenLogFile(TheSettings().log);
    for (const FaultRule& rule : TheSettings().faults) ArmFault(rule);
    if (TheSettings().latency) ChargeLatency(true);
  });
}

CUresult WatchedCall::Begin(bool needs_initialisation) {
  BeginWatching();
  start_ns_ = MonotonicNs();
  if (int (*asked)() = question) answer_ = asked();
  bytes_taken_before_ = BytesTakenByThread();
  const CUresult result = AskGate(needs_initialisation);
  if (result != CUDA_SUCCESS) return result;
  if (needs_initialisation && GateHas(GateBit::kSeeded)) {
    TakeTurn();
    Drift();
  }
  return GateHas(GateBit::kFaults) ? FaultOf(function_) : CUDA_SUCCESS;
}

void WatchedCall::End(CUresult result) {
  if (GateHas(GateBit::kLatency)) ChargeFor(result);
  if (GateHas(GateBit::kLogFile) || GateHas(GateBit::kRecording)) Log(result);
}

void WatchedCall::ChargeFor(CUresult result) {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) return;
  latency_ns_ = Charge(function_, arguments_, BytesTakenByThread() != bytes_taken_before_);
}

void WatchedCall::Log(CUresult result) const {
  cuheap_sim_call call{};
  call.function = NameOf(function_);
  call.symbol = symbol_;
  call.thread = syscall(SYS_gettid);
  call.result = result;
  call.argument_count = static_cast<unsigned>(arguments_.size());
  std::copy(arguments_.begin(), arguments_.end(), call.arguments);
  call.start_ns = start_ns_;
  call.duration_ns = MonotonicNs() - start_ns_;
  call.latency_ns = latency_ns_;
  call.answer = answer_;
  LogCall(call);
}

}  // namespace cuheap::sim
