// How each exported driver function begins: through the gate, and under watch when somebody does.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/driver_function.h"
#include "tests/sim/engine/sim_api.h"
#include "tests/sim/engine/watched_call.h"

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

template <DriverFunction kFunction, bool kNeedsInitialisation, class... Parameters,
          class... Arguments>
CUresult Enter(const char* symbol, CUresult (*function)(Parameters...), Arguments... arguments) {
  static_assert(sizeof...(arguments) <= CUHEAP_SIM_MOST_ARGUMENTS);
  if (GateIsOpen()) [[likely]] {
    return function(arguments...);
  }
  const std::array<std::uint64_t, sizeof...(arguments)> values{LogValue(arguments)...};
  WatchedCall call(kFunction, symbol, values);
  CUresult result = call.Begin(kNeedsInitialisation);
  if (result == CUDA_SUCCESS) result = function(arguments...);
  call.End(result);
  return result;
}

}  // namespace cuheap::sim
