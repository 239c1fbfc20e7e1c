#include "tests/sim/engine/faults.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/driver_function.h"
#include "tests/sim/engine/watch_lock.h"

namespace cuheap::sim {
namespace {

constexpr int kHighestCode = 9999;

struct ArmedRule {
  FaultRule rule;
  std::uint64_t seen = 0;
};

// Guarded by the WatchLock.
struct State {
  std::vector<ArmedRule> rules;
  std::array<std::uint64_t, static_cast<std::size_t>(DriverFunction::kCount)> calls{};
  std::uint64_t fired = 0;
  const char* last = nullptr;

  void ForgetCounts() {
    calls.fill(0);
    fired = 0;
    last = nullptr;
    for (ArmedRule& armed : rules) armed.seen = 0;
  }
};

State& TheState() {
  static auto& state = *new State;
  return state;
}

void CountAnewInChild() {
  const WatchLock lock;
  TheState().ForgetCounts();
}

template <class Number>
bool ParseNumber(std::string_view text, Number* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseRule(std::string_view text, FaultRule* rule) {
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=', colon);
  if (colon == std::string_view::npos || equals == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, colon);
  const std::string_view call = text.substr(colon + 1, equals - colon - 1);
  DriverFunction function{};
  int code = 0;
  if (name != "*" && !FindFunction(name, &function)) return false;
  if (call != "*" && (!ParseNumber(call, &rule->call) || rule->call == kEachCall)) return false;
  if (!ParseNumber(text.substr(equals + 1), &code) || !IsFaultCode(code)) return false;
  if (name != "*") rule->function = function;
  rule->code = static_cast<CUresult>(code);
  return true;
}

}  // namespace

bool IsFaultCode(long long code) { return code >= 1 && code <= kHighestCode; }

bool ParseFaults(std::string_view text, std::vector<FaultRule>* out) {
  std::vector<FaultRule> rules;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find(','));
    if (!ParseRule(piece, &rules.emplace_back())) return false;
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
  }
  *out = std::move(rules);
  return true;
}

void ArmFault(const FaultRule& rule) {
  static const int registered = pthread_atfork(nullptr, nullptr, CountAnewInChild);
  static_cast<void>(registered);
  const WatchLock lock;
  TheState().rules.push_back({rule});
  SetGate(GateBit::kFaults, true);
}

void ClearFaults() {
  const WatchLock lock;
  SetGate(GateBit::kFaults, false);
  TheState().rules.clear();
  TheState().ForgetCounts();
}

CUresult FaultOf(DriverFunction function) {
  const WatchLock lock;
  State& state = TheState();
  if (state.rules.empty()) return CUDA_SUCCESS;
  ++state.calls[static_cast<std::size_t>(function)];
  CUresult code = CUDA_SUCCESS;
  for (auto& [rule, seen] : state.rules) {
    if (rule.function.value_or(function) != function) continue;
    ++seen;
    const bool hit = rule.call == kEachCall || rule.call == seen;
    if (hit && code == CUDA_SUCCESS) code = rule.code;
  }
  if (code != CUDA_SUCCESS) {
    ++state.fired;
    state.last = NameOf(function);
  }
  return code;
}

std::uint64_t FaultsFired() {
  const WatchLock lock;
  return TheState().fired;
}

std::uint64_t CallsCounted(std::optional<DriverFunction> function) {
  const WatchLock lock;
  const auto& calls = TheState().calls;
  if (function) return calls[static_cast<std::size_t>(*function)];
  return std::accumulate(calls.begin(), calls.end(), std::uint64_t{0});
}

const char* LastFaulted() {
  const WatchLock lock;
  return TheState().last;
}

}  // namespace cuheap::sim
