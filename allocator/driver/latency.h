// What a driver call takes on a device, by a table: for comparing policies that make different
// calls, where no device is at hand. The published figures are those of an A100 with pages of
// 2 MiB; the others are assumptions, and whoever prints a sum says so.
//
// Threads: any; constant.
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/driver/driver_call.h"

namespace cuheap {

enum class LatencySource : std::uint8_t {
  kNone,  // the table has no figure: such calls take no time here
  kPublished,
  kAssumed,
};

struct DriverLatency {
  std::uint64_t call_ns = 0;  // every call
  std::uint64_t unit_ns = 0;  // for each `unit` beyond `included`, in proportion
  Bytes unit = 1_GiB;
  Bytes included{};
  LatencySource source = LatencySource::kNone;

  std::uint64_t Of(Bytes bytes) const;
};

DriverLatency LatencyOf(DriverCall call);

}  // namespace cuheap
