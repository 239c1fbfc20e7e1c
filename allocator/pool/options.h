// What a pool may be told; each field says what follows from it. Constant once the pool is started.
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"

namespace cuheap::pool {

// How a stream's handle becomes a stream. Handles are used again by the driver, identities never.
enum class StreamIdentity : std::uint8_t {
  kAsk,        // the driver is asked at every allocation
  kAnnounced,  // handles are remembered: the program says when a stream ends or begins a capture
};

struct Options {
  // No device holds more than this through the pool; 0: the device is the limit.
  Bytes limit{};
  // Requests from here on are driver allocations of their own; 0: an eighth of the device.
  Bytes huge{};
  // False: large memory lies in driver allocations that never move (what IPC and RDMA need).
  bool virtual_memory = true;
  StreamIdentity identity = StreamIdentity::kAsk;
  // What a thread keeps for one stream, at most: memory that others get only when it is drained.
  Bytes thread_cache = 16_MiB;
  // While less than this share of what is reserved is idle, new memory is preferred to moving
  // pages, for which the host waits for the stream. In percent.
  std::uint32_t slack_percent = 3;
  // When the device has no more: memory that moves between host and device, and is slow.
  bool managed_fallback = false;
};

}  // namespace cuheap::pool
