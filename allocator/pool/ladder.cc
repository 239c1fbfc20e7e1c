// What is tried when the driver has no more memory, the cheapest first, and a new attempt after
// each.
#include <mutex>

#include "allocator/pool/device_pool.h"

namespace cuheap::pool {

Status DevicePool::Climb(const Order& order, Magazines* magazines, BlockRef* block) {
  Status status{Code::kOutOfMemory};
  const auto attempt = [&](Effort effort) {
    status = TryAllocate(order, magazines, effort, block);
    return status.code != Code::kOutOfMemory;
  };
  // A request that no device of this size can serve disturbs nobody.
  const bool possible =
      order.bytes <= total_ && (options_.limit == Bytes() || order.bytes <= options_.limit);
  if (!possible) return status;
  CloseOpen({order.key.stream, order.stream});
  Poll();
  DrainMagazines();
  if (attempt(Effort::kOwn)) return status;
  ReleaseHuge();
  ReleaseIdleSegments();
  if (attempt(Effort::kOwn)) return status;
  if (!order.capturing) {
    while (WaitForLargest())
      if (attempt(Effort::kOwn)) return status;
    if (WaitForEverything().ok()) DrainMagazines();
    if (attempt(Effort::kDevice)) return status;
    if (GiveBackIdlePages() && attempt(Effort::kDevice)) return status;
  }
  if (pressure_ != nullptr) {
    pressure_(pressure_context_, device_, order.bytes);
    DrainMagazines();
    if (attempt(order.capturing ? Effort::kOwn : Effort::kDevice)) return status;
  }
  return options_.managed_fallback ? StandIn(order, magazines, block) : status;
}

// Managed memory instead of the device's.
Status DevicePool::StandIn(const Order& order, const Magazines* magazines, BlockRef* block) {
  Heap* heap = nullptr;
  {
    const std::lock_guard lock(mutex_);
    heap = HeapFor(order.key, order.stream, magazines);
  }
  const bool stands_in = heap != nullptr && AllocateManaged(*heap, order.bytes, block).ok();
  return {stands_in ? Code::kOk : Code::kOutOfMemory};
}

// For a request that pages cannot serve: the driver gets all idle ones back.
bool DevicePool::GiveBackIdlePages() {
  PageTable::Chain chain;
  (void)MovePages(nullptr, {}, Effort::kDevice, ~0u >> 1, &chain);
  std::uint32_t spare = 0;
  {
    const std::lock_guard lock(mutex_);
    pages_.Spare(&chain);
    spare = pages_.spare();
  }
  return spare > 0 && DestroySpare(spare).ok();
}

void DevicePool::DrainMagazines() {
  const std::lock_guard lock(mutex_);
  magazines_.ForEach([&](std::uint32_t, Magazines& magazines) {
    magazines.DrainAll([&](const CachedBlock& cached) { GiveBackAt(cached.address); });
  });
}

}  // namespace cuheap::pool
