#include "allocator/driver/latency.h"

namespace cuheap {
namespace {

constexpr LatencySource kPublished = LatencySource::kPublished;
constexpr LatencySource kAssumed = LatencySource::kAssumed;

constexpr DriverLatency Call(std::uint64_t ns, LatencySource source) {
  return {.call_ns = ns, .source = source};
}

}  // namespace

std::uint64_t DriverLatency::Of(Bytes bytes) const {
  if (bytes <= included) return call_ns;
  const double units =
      static_cast<double>((bytes - included).count()) / static_cast<double>(unit.count());
  return call_ns + static_cast<std::uint64_t>(units * static_cast<double>(unit_ns));
}

DriverLatency LatencyOf(DriverCall call) {
  switch (call) {
    case DriverCall::kReserve:
      return Call(19'000, kAssumed);
    case DriverCall::kReleaseRange:
      return Call(5'000, kAssumed);
    case DriverCall::kCreatePages:
      return {.unit_ns = 193'000, .unit = 2_MiB, .source = kPublished};
    case DriverCall::kMap:
      return Call(1'450, kPublished);
    case DriverCall::kSetAccess:
      return Call(36'000, kPublished);
    case DriverCall::kUnmap:
      return Call(25'600, kPublished);
    case DriverCall::kAllocate:
      return {.call_ns = 60'000, .unit_ns = 500'000, .included = 1_MiB, .source = kAssumed};
    case DriverCall::kFree:
      return Call(120'000, kAssumed);
    case DriverCall::kRecord:
      return Call(1'500, kAssumed);
    case DriverCall::kQuery:
      return Call(700, kAssumed);
    case DriverCall::kStreamWait:
      return Call(1'200, kAssumed);
    case DriverCall::kWaitForDevice:
      return Call(8'000, kAssumed);
    default:
      return {};
  }
}

}  // namespace cuheap
