#include "tests/sim/engine/segmented_heap.h"

#include <algorithm>

namespace cuheap::sim {

std::optional<std::uintptr_t> SegmentedHeap::Allocate(std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t wanted = Rounded(bytes);
  if (const auto latest = TakeLatest(wanted)) return latest;
  for (const std::uintptr_t base : roomy_) {
    Segment& segment = segments_.at(base);
    if (segment.region.bytes - segment.used < wanted) continue;
    if (auto found = TakeFrom(segment, wanted)) return found;
  }
  Segment* grown = Grow(wanted, limit);
  return grown == nullptr ? std::nullopt : TakeFrom(*grown, wanted);
}

std::optional<std::uintptr_t> SegmentedHeap::TakeFrom(Segment& segment, std::uint64_t bytes) {
  auto best = segment.free.end();
  for (auto it = segment.free.begin(); it != segment.free.end(); ++it) {
    if (it->second >= bytes && (best == segment.free.end() || it->second < best->second)) best = it;
  }
  if (best == segment.free.end()) return std::nullopt;
  return Cut(segment, best, best->first, bytes);
}

SegmentedHeap::Pieces::iterator SegmentedHeap::PieceWith(Segment& segment, std::uintptr_t address,
                                                         std::uint64_t bytes) {
  auto piece = segment.free.upper_bound(address);
  if (piece == segment.free.begin()) return segment.free.end();
  --piece;
  const bool holds = address + bytes <= piece->first + piece->second;
  return holds ? piece : segment.free.end();
}

std::optional<std::uintptr_t> SegmentedHeap::TakeLatest(std::uint64_t bytes) {
  Segment* segment = nullptr;
  const auto is_free = [&](std::uintptr_t address) {
    const auto after = segments_.upper_bound(address);
    if (after == segments_.begin()) return false;
    segment = &std::prev(after)->second;
    return PieceWith(*segment, address, bytes) != segment->free.end();
  };
  const auto address = latest_.Take(bytes, is_free);
  if (!address) return std::nullopt;
  return Cut(*segment, PieceWith(*segment, *address, bytes), *address, bytes);
}

std::uintptr_t SegmentedHeap::Cut(Segment& segment, Pieces::iterator piece, std::uintptr_t address,
                                  std::uint64_t bytes) {
  const auto [begin, available] = *piece;
  segment.free.erase(piece);
  if (begin < address) segment.free[begin] = address - begin;
  if (address + bytes < begin + available)
    segment.free[address + bytes] = begin + available - address - bytes;
  if (segment.used == 0) --empty_;
  segment.used += bytes;
  if (segment.used == segment.region.bytes) roomy_.erase(segment.region.base);
  used_ += bytes;
  return address;
}

SegmentedHeap::Segment* SegmentedHeap::Grow(std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t exact = InWholePages(bytes);
  for (const std::uint64_t size : {std::max(segment_bytes_, exact), exact}) {
    if (size > limit || reserved_ > limit - size) continue;
    auto region = MapNewRegion(device_, size, kind_);
    if (!region) continue;
    Segment& segment = segments_[region->base];
    segment.region = *region;
    segment.free[region->base] = size;
    roomy_.insert(region->base);
    ++empty_;
    reserved_ += size;
    return &segment;
  }
  return nullptr;
}

void SegmentedHeap::Free(std::uintptr_t address, std::uint64_t bytes) {
  Segment& segment = std::prev(segments_.upper_bound(address))->second;
  std::uint64_t size = Rounded(bytes);
  segment.used -= size;
  if (segment.used == 0) ++empty_;
  roomy_.insert(segment.region.base);
  used_ -= size;
  latest_.Add(address, size);
  auto next = segment.free.lower_bound(address);
  if (next != segment.free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == address) {
      address = before->first;
      size += before->second;
      segment.free.erase(before);
    }
  }
  if (next != segment.free.end() && next->first == address + size) {
    size += next->second;
    segment.free.erase(next);
  }
  segment.free[address] = size;
}

void SegmentedHeap::Trim(std::uint64_t above, std::uint64_t least) {
  for (auto it = segments_.begin(); empty_ != 0 && it != segments_.end() && reserved_ > above;) {
    const std::uint64_t bytes = it->second.region.bytes;
    if (it->second.used != 0 || reserved_ - bytes < least) {
      ++it;
      continue;
    }
    reserved_ -= bytes;
    --empty_;
    roomy_.erase(it->first);
    UnmapRegion(it->second.region);
    it = segments_.erase(it);
  }
}

bool SegmentedHeap::Contains(std::uintptr_t address) const {
  const auto after = segments_.upper_bound(address);
  return after != segments_.begin() &&
         address - std::prev(after)->first < std::prev(after)->second.region.bytes;
}

const MappedRegion& SegmentedHeap::RegionOf(std::uintptr_t address) const {
  return std::prev(segments_.upper_bound(address))->second.region;
}

}  // namespace cuheap::sim
