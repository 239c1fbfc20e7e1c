// The names of the calls of driver.h, for counts and for texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace cuheap {

enum class DriverCall : std::uint8_t {
#define CUHEAP_DRIVER_CALL(name, parameters, arguments) k##name,
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL
};

inline constexpr const char* kDriverCallNames[] = {
#define CUHEAP_DRIVER_CALL(name, parameters, arguments) #name,
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL
};

inline constexpr std::size_t kDriverCalls = std::size(kDriverCallNames);
constexpr const char* NameOf(DriverCall call) {
  return kDriverCallNames[static_cast<std::size_t>(call)];
}

}  // namespace cuheap
