#include "allocator/pool/device_pool.h"

#include <algorithm>
#include <mutex>

#include "allocator/pool/driver_status.h"

namespace cuheap::pool {

Status DevicePool::Start() {
  MemoryFigures figures;
  if (const DriverStatus asked = driver_.Figures(device_, &figures); !asked.ok())
    return StatusOf(asked);
  total_ = figures.total;
  constexpr std::uint64_t kHugeShare = 8;
  huge_ = options_.huge != Bytes() ? options_.huge : Bytes(total_.count() / kHugeShare);
  huge_ = std::max(huge_, kLargestSmall + 1_B);
  access_ = std::uint64_t{1} << Value(device_);
  if (!options_.virtual_memory) return {};
  const DriverStatus granule = driver_.AskGranule(device_, &rules_);
  if (granule.code == DriverCode::kNotSupported) rules_.granule = Bytes();
  return granule.code == DriverCode::kNotSupported ? Status{} : StatusOf(granule);
}

Status DevicePool::Allocate(const Order& order, Magazines* magazines, BlockRef* block) {
  const Status status = TryAllocate(order, magazines, Effort::kCalm, block);
  if (status.code != Code::kOutOfMemory) return status;
  const Status climbed = Climb(order, magazines, block);
  if (climbed.code == Code::kOutOfMemory) {
    const std::lock_guard lock(mutex_);
    ++failures_;
  }
  return climbed;
}

Status DevicePool::TryAllocate(const Order& order, Magazines* magazines, Effort effort,
                               BlockRef* block) {
  Need need;
  bool some_wait = false;
  Heap* heap = TakeAtHand(order, magazines, block, &need, &some_wait);
  if (heap == nullptr) return {Code::kFailed};
  if (!*block && some_wait && !order.capturing) {
    // What other streams are past by now comes before new memory.
    CloseOpen({order.key.stream, order.stream});
    Poll();
    heap = TakeAtHand(order, magazines, block, &need, &some_wait);
    if (heap == nullptr) return {Code::kFailed};
  }
  if (*block) return {};
  if (order.bytes >= huge_) return AllocateHuge(*heap, order, block);
  return Grow(*heap, order, need, effort, block);
}

// From what the heap has. Null: there is no memory for a heap.
Heap* DevicePool::TakeAtHand(const Order& order, Magazines* magazines, BlockRef* block, Need* need,
                             bool* some_wait) {
  const std::lock_guard lock(mutex_);
  Heap* const heap = HeapFor(order.key, order.stream, magazines);
  if (heap == nullptr) return nullptr;
  *block = TakeFrom(*heap, order, need);
  *some_wait = waiting_.blocks() > 0;
  if (*block && magazines != nullptr && magazines->heap() == heap->number())
    Refill(*heap, order, magazines);
  return heap;
}

BlockRef DevicePool::TakeFrom(Heap& heap, const Order& order, Need* need) {
  if (order.size_class != kNoClass) return heap.Take(order.size_class, need);
  if (order.bytes >= huge_) return TakeHuge(heap, order.bytes);
  return heap.TakeLarge(order.bytes, order.alignment, need);
}

// A few more cells than asked for: the next ones are hits. Only what lies in slabs already.
void DevicePool::Refill(Heap& heap, const Order& order, Magazines* magazines) {
  if (order.size_class == kNoClass || !kSizeClasses.HasSlabs(order.size_class)) return;
  const std::uint32_t most = Magazines::CapacityOf(Value(order.size_class)) / 2;
  for (std::uint32_t i = 1; i < most; ++i) {
    const BlockRef more = heap.TakeCell(order.size_class);
    if (!more) return;
    const CachedBlock cached{extents_.AddressOf(more), more.use};
    if (magazines->Push(Value(order.size_class), cached, options_.thread_cache)) continue;
    heap.Give(more);
    return;
  }
}

// The heap of a stream; a heap that holds nothing becomes it before a new one is made, so that
// streams that come and go leave none behind.
Heap* DevicePool::HeapFor(const HeapKey& key, StreamHandle stream, const Magazines* magazines) {
  if (magazines != nullptr && heaps_[magazines->heap()].key() == key)
    return &heaps_[magazines->heap()];
  if (const auto found = heaps_.FirstThat([&](const Heap& heap) { return heap.key() == key; }))
    return &heaps_[found];
  const auto empty = heaps_.FirstThat([&](const Heap& heap) {
    return heap.is_empty() && heap.has_segments() && !arenas_.IsGraph(heap.key().arena);
  });
  if (empty != 0) {
    heaps_[empty].Rename(key, stream);
    generation_.fetch_add(1, std::memory_order_release);
    return &heaps_[empty];
  }
  const std::uint32_t made = heaps_.Make(extents_, device_, key, stream);
  if (made == 0) return nullptr;
  heaps_[made].set_number(made);
  return &heaps_[made];
}

void DevicePool::Free(const BlockRef& block) {
  const std::lock_guard lock(mutex_);
  GiveBack(block);
}

void DevicePool::Flush(Magazines* magazines, std::uint32_t size_class, std::uint32_t count,
                       const BlockRef& block) {
  const std::lock_guard lock(mutex_);
  magazines->Drain(size_class, count,
                   [&](const CachedBlock& cached) { GiveBackAt(cached.address); });
  GiveBack(block);
}

void DevicePool::GiveBackAt(Address address) { GiveBack(extents_.Find(address)); }

void DevicePool::GiveBack(const BlockRef& block) {
  Extent& extent = extents_[block.extent];
  if (extent.block) return heaps_[extent.heap].Give(block);
  // A driver allocation of its own: kept for its stream until somebody is short.
  Store(block.use, BlockUse::kFree);
  extent.next = idle_huge_;
  idle_huge_ = block.extent;
  --own_blocks_;
  if (extent.kind == ExtentKind::kHuge) {
    huge_live_ -= extent.bytes;
    huge_idle_ += extent.bytes;
  }
}

Status DevicePool::AddUse(const BlockRef& block, const StreamUse& use) {
  const std::lock_guard lock(mutex_);
  const Heap& heap = heaps_[extents_[block.extent].heap];
  if (heap.key().stream == use.stream) return {};
  const BlockUse now = Load(block);
  if (now != BlockUse::kLive && now != BlockUse::kShared) return {Code::kNotLive};
  if (!uses_.Add(extents_.AddressOf(block), use)) return {Code::kFailed};
  return Change(block, BlockUse::kLive, BlockUse::kShared) || Load(block) == BlockUse::kShared
             ? Status{}
             : Status{Code::kNotLive};
}

bool DevicePool::IsHome(const BlockRef& block, StreamId stream) {
  const std::lock_guard lock(mutex_);
  return heaps_[extents_[block.extent].heap].key().stream == stream;
}

Magazines* DevicePool::MagazinesOf(const HeapKey& key, StreamHandle stream, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  const Heap* heap = HeapFor(key, stream, nullptr);
  if (heap == nullptr) return nullptr;
  SlotId number = MagazinesOwnedBy(heap->number(), thread);
  if (number == 0) number = MagazinesOwnedBy(heap->number(), 0);  // of a thread that ended
  if (number == 0) number = magazines_.Make(heap->number(), thread);
  if (number == 0) return nullptr;
  magazines_[number].set_owner(thread);
  return &magazines_[number];
}

Magazines* DevicePool::FindMagazines(std::uint32_t heap, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  const SlotId number = MagazinesOwnedBy(heap, thread);
  return number == 0 ? nullptr : &magazines_[number];
}

SlotId DevicePool::MagazinesOwnedBy(std::uint32_t heap, std::uint32_t thread) {
  return magazines_.FirstThat([&](const Magazines& magazines) {
    return magazines.heap() == heap && magazines.owner() == thread;
  });
}

void DevicePool::ThreadEnded(std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  magazines_.ForEach([&](std::uint32_t, Magazines& magazines) {
    if (magazines.owner() != thread) return;
    magazines.DrainAll([&](const CachedBlock& cached) { GiveBackAt(cached.address); });
    magazines.set_owner(0);
  });
}

ArenaId DevicePool::ArenaFor(const StreamFacts& facts) {
  const std::lock_guard lock(mutex_);
  return arenas_.For(facts);
}

Status DevicePool::BeginGraph(const StreamFacts& facts, ArenaId* arena) {
  const std::lock_guard lock(mutex_);
  const ArenaId begun = arenas_.Begin(facts, *arena);
  if (begun == 0) return {*arena == 0 ? Code::kFailed : Code::kInvalid};
  *arena = begun;
  return {};
}

Status DevicePool::EndGraph(ArenaId arena) {
  const std::lock_guard lock(mutex_);
  return {arenas_.End(arena) ? Code::kOk : Code::kInvalid};
}

Status DevicePool::ReleaseGraph(ArenaId arena) {
  const std::lock_guard lock(mutex_);
  return {arenas_.Release(arena) ? Code::kOk : Code::kInvalid};
}

}  // namespace cuheap::pool
