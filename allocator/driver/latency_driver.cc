#include "allocator/driver/latency_driver.h"

#include <type_traits>

namespace cuheap {
namespace {

// The first argument that is an amount of memory.
Bytes BytesAmong() { return {}; }
template <class First, class... Others>
Bytes BytesAmong(First first, Others... others) {
  if constexpr (std::is_same_v<First, Bytes>) {
    return first;
  } else {
    return BytesAmong(others...);
  }
}

}  // namespace

DriverStatus LatencyDriver::Enter(DriverCall call, Bytes bytes, DriverStatus status) {
  Account& account = accounts_[static_cast<std::size_t>(call)];
  account.calls.fetch_add(1, kRelaxed);
  account.nanoseconds.fetch_add(LatencyOf(call).Of(status.ok() ? bytes : Bytes()), kRelaxed);
  return status;
}

#define CUHEAP_DRIVER_CALL(name, parameters, arguments)                             \
  DriverStatus LatencyDriver::name parameters {                                     \
    return Enter(DriverCall::k##name, BytesAmong arguments, below_.name arguments); \
  }
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

}  // namespace cuheap
