// How the runtime's functions are written. Most forward to one driver function; those take their
// arguments through Call, which gives each the driver's type (handles, enumerations and records of
// both APIs have the same values and layouts), and are written as one line with CUHEAP_FORWARD or
// CUHEAP_FORWARD_STREAM. Functions that take a stream exist twice: NAME, and NAME_ptsz (or _ptds
// where the call is synchronous) for programs compiled with per-thread default streams.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <bit>
#include <type_traits>

#include "tests/sim/runtime/context.h"
#include "tests/sim/runtime/driver.h"
#include "tests/sim/runtime/error.h"

namespace cuheap::sim_runtime {

template <typename To, typename From>
To Translate(From from) {
  if constexpr (std::is_class_v<To>) {
    return std::bit_cast<To>(from);
  } else {
    return (To)from;  // a pointer to a handle, an enumeration, or an address
  }
}

template <typename... Wanted, typename... Given>
CUresult Call(CUresult (*function)(Wanted...), Given... given) {
  return function(Translate<Wanted>(given)...);
}

// Runs `call` with a current context and keeps a failure as the thread's last error.
template <typename Function>
cudaError_t InContext(DefaultStream flavour, Function&& call) {
  const CUresult ready = EnsureContext();
  return Record(ready == CUDA_SUCCESS ? call(GetDriver(flavour)) : ready);
}

// The same for calls that need the driver but no context.
template <typename Function>
cudaError_t InDriver(Function&& call) {
  const CUresult ready = DriverStatus();
  return Record(ready == CUDA_SUCCESS ? call(GetDriver(DefaultStream::kLegacy)) : ready);
}

}  // namespace cuheap::sim_runtime

#define CUHEAP_UNPACK(...) __VA_ARGS__

// CUHEAP_FORWARD(cudaName, cuName, (parameters), arguments...)
#define CUHEAP_FORWARD(name, function, parameters, ...)                                         \
  extern "C" cudaError_t name parameters {                                                      \
    using namespace cuheap::sim_runtime;                                                        \
    return InContext(DefaultStream::kLegacy,                                                    \
                     [&](const Driver& driver) { return Call(driver.function, __VA_ARGS__); }); \
  }

// The same for a driver function that works without a context.
#define CUHEAP_FORWARD_DRIVER(name, function, parameters, ...)                                 \
  extern "C" cudaError_t name parameters {                                                     \
    using namespace cuheap::sim_runtime;                                                       \
    return InDriver([&](const Driver& driver) { return Call(driver.function, __VA_ARGS__); }); \
  }

// CUHEAP_FORWARD_STREAM(cudaName, _ptsz, cuName, (parameters), arguments...)
#define CUHEAP_FORWARD_STREAM(name, twin, function, parameters, ...) \
  CUHEAP_TWO_FACES(name, twin, parameters, __VA_ARGS__) {            \
    return Call(driver.function, __VA_ARGS__);                       \
  }

// CUHEAP_TWO_FACES(cudaName, _ptsz, (parameters), arguments...) { body that uses `driver` and
// returns a CUresult }
#define CUHEAP_TWO_FACES(name, twin, parameters, ...)                                              \
  static CUresult name##Body(const cuheap::sim_runtime::Driver& driver, CUHEAP_UNPACK parameters); \
  extern "C" cudaError_t name parameters {                                                         \
    using namespace cuheap::sim_runtime;                                                           \
    return InContext(DefaultStream::kLegacy,                                                       \
                     [&](const Driver& driver) { return name##Body(driver, __VA_ARGS__); });       \
  }                                                                                                \
  extern "C" cudaError_t name##twin parameters {                                                   \
    using namespace cuheap::sim_runtime;                                                           \
    return InContext(DefaultStream::kPerThread,                                                    \
                     [&](const Driver& driver) { return name##Body(driver, __VA_ARGS__); });       \
  }                                                                                                \
  static CUresult name##Body(const cuheap::sim_runtime::Driver& driver, CUHEAP_UNPACK parameters)
