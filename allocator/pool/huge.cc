// Requests that are driver allocations of their own, and managed memory that stands in for them.
#include <mutex>

#include "allocator/pool/device_pool.h"
#include "allocator/pool/driver_status.h"

namespace cuheap::pool {
namespace {

constexpr Bytes kUnit = 2_MiB;  // what cudaMalloc takes multiples of
// A kept allocation serves requests that leave at most this share of it unused.
constexpr std::uint64_t kUnusedShare = 16;

}  // namespace

// The least of the stream's kept ones that is large enough.
BlockRef DevicePool::TakeHuge(const Heap& heap, Bytes bytes) {
  SlotId* best = nullptr;
  for (SlotId* place = &idle_huge_; *place != 0; place = &extents_[*place].next) {
    const Extent& extent = extents_[*place];
    const bool serves = extent.heap == heap.number() && extent.kind == ExtentKind::kHuge &&
                        extent.bytes >= bytes &&
                        (extent.bytes - bytes).count() <= extent.bytes.count() / kUnusedShare;
    if (serves && (best == nullptr || extent.bytes < extents_[*best].bytes)) best = place;
  }
  if (best == nullptr) return {};
  const SlotId id = *best;
  *best = extents_[id].next;
  huge_idle_ -= extents_[id].bytes;
  huge_live_ += extents_[id].bytes;
  ++own_blocks_;
  Store(&extents_[id].use, BlockUse::kCached);
  return extents_.RefOf(id, 0);
}

Status DevicePool::AllocateHuge(Heap& heap, const Order& order, BlockRef* block) {
  if (order.bytes > total_ || order.alignment > kUnit) return {Code::kOutOfMemory};
  const Bytes bytes = order.bytes.RoundedUpTo(kUnit);
  Address address{};
  if (const Status bought = Buy(bytes, &address); !bought.ok()) return bought;
  const Status owned = OwnBlock(heap, ExtentKind::kHuge, address, bytes, block);
  if (!owned.ok()) ReturnBudget(bytes);
  return owned;
}

Status DevicePool::AllocateManaged(Heap& heap, Bytes wanted, BlockRef* block) {
  const Bytes bytes = wanted.RoundedUpTo(RadixMap::kUnit);
  Address address{};
  const DriverStatus allocated = driver_.AllocateManaged(device_, bytes, &address);
  if (!allocated.ok()) return StatusOf(allocated);
  return OwnBlock(heap, ExtentKind::kManaged, address, bytes, block);
}

// What the driver gave becomes a block of its own; where it cannot, it goes back.
Status DevicePool::OwnBlock(const Heap& heap, ExtentKind kind, Address address, Bytes bytes,
                            BlockRef* block) {
  const SlotId id = extents_.AddBlock({.begin = Value(address),
                                       .bytes = bytes,
                                       .heap = heap.number(),
                                       .size_class = Value(kNoClass),
                                       .device = device_,
                                       .kind = kind,
                                       .use = BlockUse::kCached});
  if (id == 0) {
    (void)driver_.Free(device_, address);
    return {Code::kFailed};
  }
  const std::lock_guard lock(mutex_);
  (kind == ExtentKind::kHuge ? huge_live_ : managed_) += bytes;
  ++own_blocks_;
  *block = extents_.RefOf(id, 0);
  return {};
}

// What the driver does not take back stays kept.
void DevicePool::ReleaseHuge() {
  for (;;) {
    SlotId id = 0;
    Extent released;
    {
      const std::lock_guard lock(mutex_);
      id = idle_huge_;
      if (id == 0) return;
      released = extents_[id];
      idle_huge_ = released.next;
    }
    const bool freed = driver_.Free(device_, Address(released.begin)).ok();
    const std::lock_guard lock(mutex_);
    if (!freed) {
      extents_[id].next = idle_huge_;
      idle_huge_ = id;
      return;
    }
    extents_.Remove(id);
    if (released.kind == ExtentKind::kManaged) {
      managed_ -= released.bytes;
      continue;
    }
    huge_idle_ -= released.bytes;
    committed_ -= released.bytes;
  }
}

}  // namespace cuheap::pool
