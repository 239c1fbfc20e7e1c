// The part of sim_api.h that is about the calls themselves.
#include <optional>

#include "tests/sim/engine/call_log.h"
#include "tests/sim/engine/driver_function.h"
#include "tests/sim/engine/faults.h"
#include "tests/sim/engine/latency.h"
#include "tests/sim/engine/sim_api.h"
#include "tests/sim/engine/watched_call.h"

using namespace cuheap::sim;

namespace {

// False: the name is no function's. Null stands for any.
bool ReadFunction(const char* name, std::optional<DriverFunction>* out) {
  if (name == nullptr) return true;
  DriverFunction function{};
  if (!FindFunction(name, &function)) return false;
  *out = function;
  return true;
}

}  // namespace

int cuheap_sim_fail(const char* function, uint64_t call, int code) {
  BeginWatching();
  FaultRule rule{{}, call, static_cast<CUresult>(code)};
  if (!ReadFunction(function, &rule.function) || !IsFaultCode(code)) return 1;
  ArmFault(rule);
  return 0;
}

void cuheap_sim_clear_faults(void) {
  BeginWatching();
  ClearFaults();
}

uint64_t cuheap_sim_faults_fired(void) { return FaultsFired(); }
const char* cuheap_sim_last_faulted(void) { return LastFaulted(); }

uint64_t cuheap_sim_calls_counted(const char* function) {
  std::optional<DriverFunction> asked;
  return ReadFunction(function, &asked) ? CallsCounted(asked) : 0;
}

void cuheap_sim_log_start(void) {
  BeginWatching();
  RecordCalls(true);
}

void cuheap_sim_log_ask(int (*question)(void)) { AskAtCalls(question); }

void cuheap_sim_log_stop(void) { RecordCalls(false); }
void cuheap_sim_log_clear(void) { ForgetCalls(); }
size_t cuheap_sim_log_size(void) { return CallsRecorded(); }

int cuheap_sim_log_read(size_t index, struct cuheap_sim_call* out) {
  return ReadCall(index, out) ? 0 : 1;
}

void cuheap_sim_charge_latency(int on) {
  BeginWatching();
  ChargeLatency(on != 0);
}

uint64_t cuheap_sim_latency_of_process(void) { return LatencyOfProcess(); }
uint64_t cuheap_sim_latency_of_thread(void) { return LatencyOfThread(); }
