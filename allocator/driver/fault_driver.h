// A driver that wraps another, counts the calls and lets one of them fail: the n-th from now, of
// all or of one kind. The call that fails does not reach the driver below.
//
// For tests that walk: fail call 1, 2, 3 ... until what is tested needed fewer.
// Threads: any; calls are counted in the order in which they come.
#pragma once

#include <atomic>
#include <optional>

#include "allocator/driver/driver.h"
#include "allocator/driver/driver_call.h"

namespace cuheap {

class FaultDriver final : public Driver {
 public:
  explicit FaultDriver(Driver& below) : below_(below) {}

  // From 1. `call`: only calls of that kind count.
  void FailNext(std::uint64_t n, DriverStatus with, std::optional<DriverCall> call = {});
  // Whether the call that was to fail came.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

#define CUHEAP_DRIVER_CALL(name, parameters, arguments) DriverStatus name parameters override;
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

 private:
  bool Fails(DriverCall call);

  Driver& below_;
  std::optional<DriverCall> only_;
  DriverStatus with_;
  std::atomic<std::uint64_t> left_{0};  // calls until the one that fails; 0: none does
  std::atomic<bool> failed_{false};
};

}  // namespace cuheap
