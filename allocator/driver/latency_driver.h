// A driver that wraps another and keeps account of the time that its calls would take on a device
// (latency.h). It does not wait.
//
// Laws: 1. A call that fails is counted, and takes what a call takes without its memory.
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "allocator/driver/driver.h"
#include "allocator/driver/driver_call.h"
#include "allocator/driver/latency.h"

namespace cuheap {

class LatencyDriver final : public Driver {
 public:
  explicit LatencyDriver(Driver& below) : below_(below) {}

  std::uint64_t calls(DriverCall call) const { return At(call).calls.load(kRelaxed); }
  std::uint64_t nanoseconds(DriverCall call) const { return At(call).nanoseconds.load(kRelaxed); }

#define CUHEAP_DRIVER_CALL(name, parameters, arguments) DriverStatus name parameters override;
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

  struct Account {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> nanoseconds{0};
  };

  const Account& At(DriverCall call) const { return accounts_[static_cast<std::size_t>(call)]; }
  DriverStatus Enter(DriverCall call, Bytes bytes, DriverStatus status);

  Driver& below_;
  std::array<Account, kDriverCalls> accounts_{};
};

}  // namespace cuheap
