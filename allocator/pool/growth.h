// A heap that grows: what was planned under the lock, to be done without it.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/pool/device_pool.h"

namespace cuheap::pool {

struct DevicePool::Growth {
  Growth(Heap& grown, const Need& what, const Order& order)
      : heap(grown), need(what), stream(order.stream), capturing(order.capturing) {}

  Heap& heap;
  const Need need;
  const StreamHandle stream;
  const bool capturing;
  Claim claim;
  PageTable::Chain pages;     // for the claim's missing pages
  std::uint32_t created = 0;  // of them, by this growth
  std::uint32_t moves = 0;    // pages to be moved from where they are idle
  // What the claim missed at first, for rolling back. Of a claim in more pieces the rest keeps its
  // pages, idle.
  static constexpr std::size_t kMostRuns = 64;
  std::array<PageRun, kMostRuns> mapped{};
  std::size_t mapped_runs = 0;
};

}  // namespace cuheap::pool
