// What a pool gives back when it is asked to, what it keeps, and what it can say about itself.
#include <algorithm>
#include <mutex>

#include "allocator/pool/device_pool.h"
#include "allocator/pool/driver_status.h"
#include "allocator/pool/stays.h"

namespace cuheap::pool {

Status DevicePool::Empty(std::span<Stay> stays, EmptyResult* result) {
  const Bytes before = Reserved();
  DrainMagazines();
  const DriverStatus waited = WaitForEverything();
  if (waited.ok()) {
    DrainMagazines();
    (void)GiveBackIdlePages();
  }
  ReleaseHuge();
  ReleaseIdleSegments();
  const std::lock_guard lock(mutex_);
  StayList list(stays);
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    list.Look(heap, extents_, arenas_.IsGraph(heap.key().arena));
  });
  *result = list.result();
  result->returned = before - committed_;
  return waited.code == DriverCode::kGone ? StatusOf(waited) : Status{};
}

// Pages that are mapped from now on have it; those of today get it here, run by run. A run that was
// unmapped meanwhile is refused, and gets it when it is mapped again.
Status DevicePool::AllowAccess(DeviceId peer) {
  const std::uint64_t bit = std::uint64_t{1} << Value(peer);
  Status status;
  std::uint64_t begin = 0;
  Bytes bytes;
  for (std::uint64_t from = 0; NextMappedRun(bit, from, &begin, &bytes);
       from = begin + bytes.count()) {
    const DriverStatus set = driver_.SetAccess(Address(begin), bytes, bit);
    if (!set.ok() && set.code != DriverCode::kInvalid) status = StatusOf(set);
  }
  return status;
}

bool DevicePool::NextMappedRun(std::uint64_t access, std::uint64_t from, std::uint64_t* begin,
                               Bytes* bytes) {
  const std::lock_guard lock(mutex_);
  access_ |= access;
  bool found = false;
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    for (const Range* range : {&heap.small(), &heap.large()}) {
      std::uint64_t first = 0;
      Bytes length;
      if (!range->NextMapped(from, &first, &length) || (found && first > *begin)) continue;
      found = true;
      *begin = first;
      *bytes = length;
    }
  });
  return found;
}

Bytes DevicePool::Reserved() {
  const std::lock_guard lock(mutex_);
  return committed_;
}

Statistics DevicePool::Figures() {
  const std::lock_guard lock(mutex_);
  Statistics figures;
  figures.reserved = committed_;
  figures.limit = options_.limit;
  figures.managed = managed_;
  figures.moved_pages = moved_pages_;
  figures.failures = failures_;
  figures.idle = huge_idle_ + BytesOf(pages_.spare());
  Bytes out = huge_live_;
  figures.blocks = own_blocks_;
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    out += heap.out();
    figures.blocks += heap.blocks_out();
    figures.idle += heap.small().Idle() + heap.large().Idle();
  });
  magazines_.ForEach([&](std::uint32_t, const Magazines& magazines) {
    figures.cached += magazines.bytes();
    figures.blocks -= magazines.blocks();
  });
  figures.waiting = waiting_.bytes();
  figures.blocks -= waiting_.blocks();
  figures.live = out - figures.cached - figures.waiting;
  figures.holes = figures.reserved - out - figures.idle;
  return figures;
}

void DevicePool::Explain(Shortage* shortage) {
  MemoryFigures device;
  const bool known = driver_.Figures(device_, &device).ok();
  shortage->device = device_;
  shortage->figures = Figures();
  shortage->device_free = known ? device.free : Bytes();
  shortage->device_total = total_;
  const std::lock_guard lock(mutex_);
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    for (Range* range : {&heap.small(), &heap.large()})
      shortage->largest_hole = std::max(shortage->largest_hole, range->LargestFree());
  });
}

void DevicePool::Forget() {
  const std::lock_guard lock(mutex_);
  extents_.ForEach([&](SlotId id) {
    if (extents_[id].device == device_) extents_.Lose(id);
  });
  magazines_.ForEach(
      [](std::uint32_t, Magazines& magazines) { magazines.DrainAll([](const CachedBlock&) {}); });
  heaps_.ForEach([](std::uint32_t, Heap& heap) { heap.Clear(); });
  pages_.Release();
  waiting_.Release();
  uses_.Release();
  idle_huge_ = 0;
  event_count_ = 0;
  committed_ = managed_ = huge_live_ = huge_idle_ = Bytes();
  own_blocks_ = 0;
  generation_.fetch_add(1, std::memory_order_release);
}

const char* DevicePool::FirstBrokenLaw() {
  const std::lock_guard lock(mutex_);
  const char* broken = nullptr;
  Bytes mapped;
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    if (broken == nullptr) broken = heap.FirstBrokenLaw();
    mapped += heap.small().mapped() + heap.large().mapped();
  });
  if (broken != nullptr) return broken;
  mapped += huge_live_ + huge_idle_;
  mapped += BytesOf(pages_.spare());
  return mapped == committed_ ? nullptr : "device law: reserved is what is mapped, spare and huge";
}

void DevicePool::Shutdown() {
  EmptyResult result;
  (void)Empty({}, &result);
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    for (Range* range : {&heap.small(), &heap.large()})
      range->ForEachSegment([&](const Segment& segment) {
        if (segment.is_virtual) (void)driver_.ReleaseRange(Address(segment.begin), segment.bytes);
      });
  });
  while (event_count_ > 0) (void)driver_.DestroyEvent(events_[--event_count_]);
  heaps_.Clear();
  magazines_.Clear();
  arenas_.Clear();
  pages_.Release();
  waiting_.Release();
  uses_.Release();
}

}  // namespace cuheap::pool
