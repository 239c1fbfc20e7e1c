// What a device's pool tells about itself: figures, reasons, explanations. Plain data.
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"

namespace cuheap::pool {

// Law: reserved = live + cached + waiting + holes + idle.
struct Statistics {
  Bytes reserved{};  // what the driver gave: pages, segments, huge blocks
  Bytes live{};      // blocks of the program, rounding included
  Bytes cached{};    // small blocks in magazines
  Bytes waiting{};   // freed, a stream not yet past them
  Bytes holes{};     // free, beside blocks that are held
  Bytes idle{};      // whole pages and segments that nothing holds: what empty-cache returns
  Bytes managed{};   // managed memory that stands in for the device's; in no other figure
  Bytes limit{};     // 0: the device
  std::uint64_t blocks = 0;       // live
  std::uint64_t moved_pages = 0;  // remapped so far
  std::uint64_t failures = 0;     // requests that ended in out of memory
};

enum class StayReason : std::uint8_t {
  kLive,     // a block of the program
  kWaiting,  // a freed block that a stream is not past
  kGraph,    // memory of a graph
  kCached,   // a magazine that was in use at that moment
  kBusy,     // the device could not be waited for: a stream captures
};

// Why memory that is not live stayed: the block that keeps the bytes around it.
struct Stay {
  StayReason reason{};
  Address block{};  // where it begins; for a graph the first address
  Bytes bytes{};    // free bytes that it keeps
  StreamHandle stream{};
  std::uint32_t arena = 0;
};

struct EmptyResult {
  Bytes returned{};
  Bytes stayed{};             // free bytes that could not be given back
  std::uint32_t reasons = 0;  // all of them, also those that there was no room for
};

// What a failed request should know.
struct Shortage {
  DeviceId device{};
  Bytes requested{};
  Statistics figures;
  Bytes largest_hole{};
  Bytes device_free{};  // as the driver says, all processes
  Bytes device_total{};
};

}  // namespace cuheap::pool
