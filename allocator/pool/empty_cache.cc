// What a pool gives back when it is asked to, what it keeps, and what it can say about itself.
#include <algorithm>
#include <array>
#include <mutex>

#include "allocator/pool/device_pool.h"
#include "allocator/pool/driver_status.h"
#include "allocator/pool/stays.h"

namespace cuheap::pool {

Status DevicePool::Empty(std::span<Stay> stays, EmptyResult* result) {
  Bytes before;
  {
    const std::lock_guard lock(mutex_);
    before = committed_;
  }
  DrainMagazines();
  const DriverStatus waited = WaitForEverything();
  if (waited.ok()) DrainMagazines();
  if (waited.ok()) (void)GiveBackIdlePages();
  ReleaseHuge();
  ReleaseIdleSegments();
  const std::lock_guard lock(mutex_);
  StayList list(stays, !waited.ok());
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    list.Look(heap, extents_, arenas_.IsGraph(heap.key().arena));
  });
  *result = list.result();
  result->returned = before - committed_;
  return waited.code == DriverCode::kGone ? StatusOf(waited) : Status{};
}

Status DevicePool::AllowAccess(DeviceId peer) {
  const std::uint64_t bit = std::uint64_t{1} << Value(peer);
  {
    const std::lock_guard lock(mutex_);
    access_ |= bit;
  }
  // Pages that are mapped from now on have it; those of today get it here. Whether a run of pages
  // still is mapped is the driver's to say.
  Status status;
  const auto allow = [&](std::uint64_t begin, Bytes bytes) {
    const DriverStatus set = driver_.SetAccess(Address(begin), bytes, bit);
    if (!set.ok() && set.code != DriverCode::kInvalid) status = StatusOf(set);
  };
  for (std::uint32_t number = 1;; ++number) {
    std::array<PageRun, 64> runs{};
    std::array<std::uint64_t, 64> begins{};
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto heap = heaps_.FirstThat([&](const Heap& h) { return h.number() >= number; });
      if (heap == 0) return status;
      number = heap;
      for (Range* range : {&heaps_[heap].small(), &heaps_[heap].large()})
        range->ForEachSegment([&](const Segment& segment) {
          if (!segment.is_virtual) return;
          const std::uint32_t pages = segment.pages.pages();
          for (std::uint32_t page = 0; page < pages && count < runs.size(); ++page) {
            if (segment.pages.At(page).handle == core::HandleId::kNone) continue;
            const bool goes_on =
                count > 0 && begins[count - 1] + runs[count - 1].pages * rules_.granule.count() ==
                                 segment.pages.AddressOf(page);
            if (!goes_on) begins[count++] = segment.pages.AddressOf(page);
            ++runs[count - 1].pages;
          }
        });
    }
    for (std::size_t i = 0; i < count; ++i)
      allow(begins[i], Bytes(runs[i].pages * rules_.granule.count()));
  }
}

Statistics DevicePool::Figures() {
  const std::lock_guard lock(mutex_);
  Statistics figures;
  figures.reserved = committed_;
  figures.limit = options_.limit;
  figures.managed = managed_;
  figures.moved_pages = moved_pages_;
  figures.failures = failures_;
  figures.idle = huge_idle_ + Bytes(std::uint64_t{pages_.spare()} * rules_.granule.count());
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
  mapped += Bytes(std::uint64_t{pages_.spare()} * rules_.granule.count());
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
