// Device memory cut into blocks: segments of mapped pages, best fit inside them.
// Small linear allocations, module globals and stream-ordered pools use it.
//
// Laws: 1. Free ranges of a segment never touch each other. 2. used() is the sum of live blocks,
// reserved() the sum of segments. Threads: callers hold the engine's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/latest_freed.h"

namespace cuheap::sim {

class SegmentedHeap {
 public:
  static constexpr std::uint64_t kUnit = 512;

  SegmentedHeap(int device, MemoryKind kind, std::uint64_t segment_bytes)
      : device_(device), kind_(kind), segment_bytes_(segment_bytes) {}
  ~SegmentedHeap() { Trim(0); }
  SegmentedHeap(const SegmentedHeap&) = delete;
  SegmentedHeap& operator=(const SegmentedHeap&) = delete;

  // A block of `bytes` rounded up to kUnit. Nothing: out of memory. `limit` bounds reserved().
  std::optional<std::uintptr_t> Allocate(std::uint64_t bytes, std::uint64_t limit = UINT64_MAX);
  // REQUIRES: `address` came from Allocate(bytes).
  void Free(std::uintptr_t address, std::uint64_t bytes);
  // Gives empty segments back while more than `above` bytes are reserved, and none that would leave
  // less than `least`.
  void Trim(std::uint64_t above, std::uint64_t least = 0);
  bool Contains(std::uintptr_t address) const;
  const MappedRegion& RegionOf(std::uintptr_t address) const;

  std::uint64_t used() const { return used_; }
  std::uint64_t reserved() const { return reserved_; }
  static std::uint64_t Rounded(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

 private:
  using Pieces = std::map<std::uintptr_t, std::uint64_t>;
  struct Segment {
    MappedRegion region;
    Pieces free;
    std::uint64_t used = 0;
  };

  std::optional<std::uintptr_t> TakeFrom(Segment& segment, std::uint64_t bytes);
  // The free range that holds all of [address, address + bytes); the end: there is none.
  static Pieces::iterator PieceWith(Segment& segment, std::uintptr_t address, std::uint64_t bytes);
  std::optional<std::uintptr_t> TakeLatest(std::uint64_t bytes);
  std::uintptr_t Cut(Segment& segment, Pieces::iterator piece, std::uintptr_t address,
                     std::uint64_t bytes);
  Segment* Grow(std::uint64_t bytes, std::uint64_t limit);

  const int device_;
  const MemoryKind kind_;
  const std::uint64_t segment_bytes_;
  std::map<std::uintptr_t, Segment> segments_;
  // So that a full heap is not looked through: segments that are not full, and how many are empty.
  std::set<std::uintptr_t> roomy_;
  std::size_t empty_ = 0;
  LatestFreed latest_;
  std::uint64_t used_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace cuheap::sim
