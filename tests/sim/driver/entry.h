// How each exported driver function begins: through the gate, and into the log when there is one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tests/sim/engine/call_gate.h"

namespace cuheap::sim {

// An argument as the log shows it.
template <class Value>
std::uint64_t LogValue(const Value& value) {
  if constexpr (std::is_pointer_v<Value>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return 0;  // a structure passed by value
  }
}

template <bool kNeedsInitialisation, class... Parameters, class... Arguments>
CUresult Enter(const char* name, CUresult (*function)(Parameters...), Arguments... arguments) {
  if (GateIsOpen()) [[likely]] {
    return function(arguments...);
  }
  CUresult result = AskGate(kNeedsInitialisation);
  if (result == CUDA_SUCCESS) result = function(arguments...);
  LogCall(name, {LogValue(arguments)...}, result);
  return result;
}

}  // namespace cuheap::sim
