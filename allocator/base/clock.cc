#include "allocator/base/clock.h"

#include <ctime>

namespace cuheap {
namespace {

std::uint64_t Read(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class Machine final : public Clock {
 public:
  std::uint64_t MonotonicNs() override { return Read(CLOCK_MONOTONIC); }
  std::uint64_t LateMonotonicNs() override { return Read(CLOCK_MONOTONIC_COARSE); }
  std::uint64_t WallNs() override { return Read(CLOCK_REALTIME); }
};

constinit Machine machine;

}  // namespace

Clock& SystemClock() { return machine; }

}  // namespace cuheap
