// Pages that nothing holds, on their way to where they are needed or back to the driver.
#include <algorithm>
#include <array>
#include <mutex>

#include "allocator/pool/device_pool.h"

namespace cuheap::pool {

struct DevicePool::IdleClaims {
  static constexpr std::size_t kMost = 64;
  struct Item {
    Range* range = nullptr;
    Claim claim;
  };
  std::array<Item, kMost> items{};
  std::size_t count = 0;
  std::uint32_t pages = 0;
};

// Claims come before the wait: what was submitted on those addresses is over then, and nobody can
// submit more.
DriverStatus DevicePool::MovePages(Heap* own, StreamHandle stream, Effort effort,
                                   std::uint32_t pages, PageTable::Chain* chain) {
  const std::uint32_t wanted = chain->count + pages;
  while (chain->count < wanted) {
    IdleClaims claims;
    ClaimIdle(own, effort, wanted - chain->count, &claims);
    if (claims.count == 0) return {};
    const DriverStatus waited =
        effort == Effort::kDevice ? WaitForEverything() : WaitForStream(stream);
    if (!waited.ok()) {
      AbandonClaims(claims);
      return waited;
    }
    const std::uint32_t before = chain->count;
    UnmapClaims(claims, chain);
    if (chain->count == before) return {.code = DriverCode::kFailed};
  }
  return {};
}

void DevicePool::ClaimIdle(Heap* own, Effort effort, std::uint32_t pages, IdleClaims* claims) {
  const std::lock_guard lock(mutex_);
  const auto take = [&](Range& range) {
    while (claims->count < IdleClaims::kMost && claims->pages < pages) {
      const Claim claim = range.ClaimIdle(pages - claims->pages);
      if (!claim) return;
      claims->items[claims->count++] = {&range, claim};
      claims->pages += static_cast<std::uint32_t>(PagesIn(claim.bytes));
    }
  };
  const auto take_heap = [&](Heap& heap) {
    take(heap.large());
    take(heap.small());
  };
  if (own != nullptr && !arenas_.IsGraph(own->key().arena)) take_heap(*own);
  if (effort != Effort::kDevice) return;
  heaps_.ForEach([&](std::uint32_t, Heap& heap) {
    if (!arenas_.IsGraph(heap.key().arena)) take_heap(heap);
  });
}

void DevicePool::UnmapClaims(const IdleClaims& claims, PageTable::Chain* chain) {
  for (std::size_t i = 0; i < claims.count; ++i) {
    const IdleClaims::Item& item = claims.items[i];
    core::PageMap& map = item.claim.segment->pages;
    const std::uint32_t first = map.PageOf(item.claim.begin);
    const std::uint32_t end = first + static_cast<std::uint32_t>(PagesIn(item.claim.bytes));
    std::uint32_t unmapped = end;  // the first one that is
    while (unmapped > first &&
           driver_.Unmap(Address(map.AddressOf(unmapped - 1)), rules_.granule).ok())
      --unmapped;
    const std::lock_guard lock(mutex_);
    for (std::uint32_t page = unmapped; page < end; ++page) {
      const core::Mapping mapping = map.At(page);
      map.Unmap(mapping);
      pages_.Push(chain, mapping.handle);
    }
    moved_pages_ += end - unmapped;
    item.range->Abandon(item.claim);
  }
}

void DevicePool::AbandonClaims(const IdleClaims& claims) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < claims.count; ++i)
    claims.items[i].range->Abandon(claims.items[i].claim);
}

// Work that other streams queued on the stream's memory counts as its own: they waited for it, or
// told by record_use.
DriverStatus DevicePool::WaitForStream(StreamHandle stream) {
  const EventHandle event = TakeEvent(stream);
  if (event == EventHandle{}) return {.code = DriverCode::kFailed};
  DriverStatus status = driver_.Record(device_, stream, event);
  if (status.ok()) status = driver_.Wait(event);
  KeepEvent(event);
  return status;
}

// Spare pages go back to the driver, at most so many.
DriverStatus DevicePool::DestroySpare(std::uint32_t pages) {
  for (std::uint32_t i = 0; i < pages; ++i) {
    PageTable::Chain one;
    core::HandleId id;
    PagesHandle handle{};
    {
      const std::lock_guard lock(mutex_);
      pages_.TakeSpare(1, &one);
      if (one.count == 0) return {};
      id = pages_.Pop(&one);
      handle = pages_[id];
    }
    const DriverStatus status = driver_.DestroyPages(handle);
    const std::lock_guard lock(mutex_);
    if (!status.ok()) {
      pages_.Push(&one, id);
      pages_.Spare(&one);
      return status;
    }
    pages_.Remove(id);
    committed_ -= rules_.granule;
  }
  return {};
}

// cudaFree waits for the device itself. What the driver does not take back stays a segment.
void DevicePool::ReleaseIdleSegments() {
  for (;;) {
    Address begin{};
    Bytes bytes;
    Range* range = nullptr;
    {
      const std::lock_guard lock(mutex_);
      (void)heaps_.FirstThat([&](Heap& heap) {
        if (arenas_.IsGraph(heap.key().arena)) return false;
        for (Range* one : {&heap.small(), &heap.large()})
          if (range == nullptr && one->TakeIdleDriver(&begin, &bytes)) range = one;
        return range != nullptr;
      });
      if (range == nullptr) return;
    }
    if (driver_.Free(device_, begin).ok()) {
      ReturnBudget(bytes);
      continue;
    }
    const std::lock_guard lock(mutex_);
    (void)range->AddDriver(begin, bytes);
    return;
  }
}

}  // namespace cuheap::pool
