// A driver that wraps another and ends before it: after Stop, and in a forked child, every call
// returns kGone without reaching the driver below.
//
// Threads: any. Start before the others.
#pragma once

#include <atomic>

#include "allocator/base/fork_guard.h"
#include "allocator/driver/driver.h"

namespace cuheap {

class LifeDriver final : public Driver {
 public:
  constexpr LifeDriver() = default;

  void Start(Driver* below) {
    fork_guard_.Start();
    below_ = below;
  }
  // The process is exiting: the driver may be unloading already.
  void Stop() { stopped_.store(true, std::memory_order_release); }
  bool is_gone() const { return stopped_.load(std::memory_order_acquire) || fork_guard_.InChild(); }

#define CUHEAP_DRIVER_CALL(name, parameters, arguments) \
  DriverStatus name parameters override {               \
    if (is_gone()) return {.code = DriverCode::kGone};  \
    return below_->name arguments;                      \
  }
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

 private:
  Driver* below_ = nullptr;
  ForkGuard fork_guard_;
  std::atomic<bool> stopped_{false};
};

}  // namespace cuheap
