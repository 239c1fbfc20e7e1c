#include "allocator/driver/fault_driver.h"

namespace cuheap {

void FaultDriver::FailNext(std::uint64_t n, DriverStatus with, std::optional<DriverCall> call) {
  only_ = call;
  with_ = with;
  failed_.store(false, std::memory_order_release);
  left_.store(n, std::memory_order_release);
}

bool FaultDriver::Fails(DriverCall call) {
  std::uint64_t left = left_.load(std::memory_order_acquire);
  if (left == 0 || (only_ && *only_ != call)) return false;
  while (left != 0 && !left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) {
  }
  if (left != 1) return false;
  failed_.store(true, std::memory_order_release);
  return true;
}

#define CUHEAP_DRIVER_CALL(name, parameters, arguments)                \
  DriverStatus FaultDriver::name parameters {                          \
    return Fails(DriverCall::k##name) ? with_ : below_.name arguments; \
  }
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

}  // namespace cuheap
