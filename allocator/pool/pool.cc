#include "allocator/pool/pool.h"

#include <bit>
#include <mutex>

#include "allocator/pool/driver_status.h"

namespace cuheap::pool {
namespace {

constexpr Bytes kGranule = 512_B;
constexpr Bytes kLargestAlignment = 2_MiB;
// No device has more; and no rounding of less overflows.
constexpr Bytes kLargest{std::uint64_t{1} << RadixMap::kAddressBits};

constinit std::atomic<std::uint64_t> last_pool{0};

// The legacy default stream never ends and cannot be captured, so its handle says all.
bool IsLegacy(StreamHandle stream) { return Value(stream) <= 1; }

}  // namespace

void Pool::Start(Driver* driver, const Options& options) {
  constexpr int kGenerationBits = 32;
  life_.Start(driver);
  options_ = options;
  generation_.store((last_pool.fetch_add(1) + 1) << kGenerationBits, std::memory_order_release);
  (void)TellThreadEnds(this);
}

void Pool::SetPressure(void (*ask)(void*, DeviceId, Bytes), void* context) {
  pressure_ = ask;
  pressure_context_ = context;
}

// Two threads may both make a device's pool: one is kept.
Status Pool::Device(DeviceId device, DevicePool** pool) {
  if (Value(device) >= kMostDevices) return {Code::kInvalid};
  std::atomic<DevicePool*>& known = devices_[Value(device)];
  *pool = known.load(std::memory_order_acquire);
  if (*pool != nullptr) return {};
  std::uint32_t number = 0;
  {
    const std::lock_guard lock(devices_mutex_);
    number = device_table_.Make(life_, extents_, generation_, device, options_);
    if (number == 0) return {Code::kFailed};
    *pool = &device_table_[number];
  }
  (*pool)->set_pressure(pressure_, pressure_context_);
  const Status started = (*pool)->Start();
  DevicePool* expected = nullptr;
  if (started.ok() && known.compare_exchange_strong(expected, *pool, std::memory_order_acq_rel))
    return {};
  *pool = expected;
  const std::lock_guard lock(devices_mutex_);
  device_table_.Destroy(number);
  return started;
}

// What the thread remembers of the stream, where that is still so.
inline Status Pool::Place(DeviceId device, StreamHandle stream, ThreadMemory::ByStream** place) {
  ThreadMemory::ByStream& known = ThisThread().OfStream(device, stream);
  *place = &known;
  const bool same =
      known.generation == generation() && known.stream == stream && known.device == device;
  const bool told = options_.identity == StreamIdentity::kAnnounced || IsLegacy(stream);
  if (same && told) [[likely]]
    return {};
  return told ? FindPlace(device, stream, nullptr, &known) : AskPlace(device, stream, same, &known);
}

Status Pool::AskPlace(DeviceId device, StreamHandle stream, bool same,
                      ThreadMemory::ByStream* place) {
  StreamFacts facts;
  const DriverStatus looked = life_.LookAt(device, stream, &facts);
  if (!looked.ok()) return StatusOf(looked);
  const bool still = same && place->facts.id == facts.id &&
                     place->facts.capturing == facts.capturing &&
                     place->facts.capture == facts.capture;
  return still ? Status{} : FindPlace(device, stream, &facts, place);
}

Status Pool::FindPlace(DeviceId device, StreamHandle stream, const StreamFacts* facts,
                       ThreadMemory::ByStream* place) {
  DevicePool* pool = nullptr;
  if (const Status found = Device(device, &pool); !found.ok()) return found;
  StreamFacts asked;
  if (facts == nullptr) {
    const DriverStatus looked = life_.LookAt(device, stream, &asked);
    if (!looked.ok()) return StatusOf(looked);
    facts = &asked;
  }
  const HeapKey key{facts->id, pool->ArenaFor(*facts)};
  Magazines* const magazines = pool->MagazinesOf(key, stream, ThisThread().id());
  // The generation is read last: a heap that was renamed for this one bumped it.
  *place = {generation(), stream, *facts, device, key, magazines};
  if (magazines != nullptr)
    ThisThread().OfHeap(device, magazines->heap()) = {place->generation, magazines->heap(), device,
                                                      magazines};
  return {};
}

Status Pool::Allocate(const Request& request, Address* address) {
  const bool small = request.bytes.count() - 1 < kLargestSmall.count();  // 0 is not
  ThreadMemory::ByStream* place = nullptr;
  if (small && request.alignment <= kGranule) [[likely]] {
    if (const Status placed = Place(request.device, request.stream, &place); !placed.ok())
      return placed;
    const core::SizeClass size_class = kSizeClasses.Of(request.bytes);
    CachedBlock block;
    if (place->magazines == nullptr || !place->magazines->Pop(Value(size_class), &block))
      return AllocateSlow(request, size_class, *place, address);
    Store(block.use, BlockUse::kLive);
    *address = block.address;
    return {};
  }
  const bool valid = request.bytes != Bytes() && std::has_single_bit(request.alignment.count()) &&
                     request.alignment <= kLargestAlignment;
  if (!valid) return {Code::kInvalid};
  if (request.bytes > kLargest) return {Code::kOutOfMemory};
  if (const Status placed = Place(request.device, request.stream, &place); !placed.ok())
    return placed;
  return AllocateSlow(request, kNoClass, *place, address);
}

// Cells of a slab are multiples of what divides their size, for a slab begins at a unit; blocks
// that stand alone are aligned one by one, and begin in units of their own.
Status Pool::AllocateSlow(const Request& request, core::SizeClass size_class,
                          const ThreadMemory::ByStream& place, Address* address) {
  DevicePool* pool = nullptr;
  if (const Status found = Device(request.device, &pool); !found.ok()) return found;
  Order order{.bytes = request.bytes.RoundedUpTo(kGranule),
              .alignment = std::max(request.alignment, kGranule),
              .size_class = size_class,
              .key = place.key,
              .stream = request.stream,
              .capturing = place.facts.capturing};
  if (size_class == kNoClass) {
    const Bytes aligned = order.bytes.RoundedUpTo(order.alignment);
    const bool in_slab = aligned <= kSizeClasses.rules().shared;
    if (in_slab) order.size_class = kSizeClasses.Of(aligned);
    order.bytes = std::max(order.bytes, RadixMap::kUnit);
  }
  if (order.size_class != kNoClass) order.bytes = kSizeClasses.SizeOf(order.size_class);
  BlockRef block;
  const Status status = pool->Allocate(order, place.magazines, &block);
  if (!status.ok()) return status;
  Store(block.use, BlockUse::kLive);
  *address = extents_.AddressOf(block);
  return {};
}

inline Status Pool::FreeLive(const BlockRef& block, Address address) {
  const Extent& extent = extents_[block.extent];
  const ThreadMemory::ByHeap& known = ThisThread().OfHeap(extent.device, extent.heap);
  const bool same = known.generation == generation() && known.heap == extent.heap &&
                    known.device == extent.device && known.magazines != nullptr;
  const bool kept =
      same && extent.size_class != Value(kNoClass) &&
      known.magazines->Push(extent.size_class, {address, block.use}, options_.thread_cache);
  return kept ? Status{} : FreeSlow(block, address);
}

Status Pool::Free(Address address) {
  const BlockRef block = extents_.Find(address);
  if (!block) return {Code::kForeign};
  if (!Change(block, BlockUse::kLive, BlockUse::kCached)) [[unlikely]]
    return FreeOdd(block, nullptr);
  return FreeLive(block, address);
}

Status Pool::FreeSlow(const BlockRef& block, Address address) {
  const Extent& extent = extents_[block.extent];
  DevicePool& pool = DeviceOf(block);
  const std::uint32_t size_class = extent.size_class;
  Magazines* const magazines =
      size_class == Value(kNoClass) ? nullptr : MagazinesFor(extent, &pool);
  if (magazines == nullptr)
    pool.Free(block);
  else if (!magazines->Push(size_class, {address, block.use}, options_.thread_cache))
    pool.Flush(magazines, size_class, Magazines::CapacityOf(size_class) / 2, block);
  return {};
}

// Null: the thread never allocated from that heap, and keeps nothing of it.
Magazines* Pool::MagazinesFor(const Extent& extent, DevicePool* pool) {
  ThreadMemory& thread = ThisThread();
  ThreadMemory::ByHeap& known = thread.OfHeap(extent.device, extent.heap);
  const std::uint64_t now = generation();
  const bool same =
      known.generation == now && known.heap == extent.heap && known.device == extent.device;
  if (!same)
    known = {now, extent.heap, extent.device, pool->FindMagazines(extent.heap, thread.id())};
  return known.magazines;
}

Status Pool::FreeOdd(const BlockRef& block, const StreamUse* use) {
  switch (Load(block)) {
    case BlockUse::kLost:
      return {};
    case BlockUse::kShared:
      if (!Change(block, BlockUse::kShared, BlockUse::kWaiting)) return {Code::kNotLive};
      DeviceOf(block).FreeLater(block, use);
      return {};
    default:
      return {Code::kNotLive};
  }
}

Status Pool::Free(Address address, StreamHandle stream) {
  const BlockRef block = extents_.Find(address);
  if (!block) return {Code::kForeign};
  const Extent& extent = extents_[block.extent];
  const DeviceId device = extent.device;
  ThreadMemory::ByStream* place = nullptr;
  const Status placed = Place(device, stream, &place);
  // Without a driver there are no streams to be ordered by.
  if (placed.code == Code::kGone) return Free(address);
  if (!placed.ok()) return placed;
  const bool home = (place->magazines != nullptr && place->magazines->heap() == extent.heap) ||
                    DeviceOf(block).IsHome(block, place->key.stream);
  if (home) return Free(address);
  const StreamUse use{place->key.stream, stream};
  if (!Change(block, BlockUse::kLive, BlockUse::kWaiting)) return FreeOdd(block, &use);
  DeviceOf(block).FreeLater(block, &use);
  return {};
}

Status Pool::RecordUse(Address address, StreamHandle stream) {
  const BlockRef block = extents_.Find(address);
  if (!block) return {Code::kForeign};
  StreamFacts facts;
  const DriverStatus looked = life_.LookAt(extents_[block.extent].device, stream, &facts);
  if (!looked.ok()) return StatusOf(looked);
  return DeviceOf(block).AddUse(block, {facts.id, stream});
}

Status Pool::Look(Address address, DeviceId* device, Bytes* bytes) {
  const BlockRef block = extents_.Find(address);
  if (!block) return {Code::kForeign};
  const BlockUse use = Load(block);
  if (use != BlockUse::kLive && use != BlockUse::kShared) return {Code::kNotLive};
  *device = extents_[block.extent].device;
  *bytes = extents_.BytesOf(block);
  return {};
}

template <class Work>
Status Pool::On(DeviceId device, Work&& work) {
  DevicePool* pool = nullptr;
  const Status found = Device(device, &pool);
  return found.ok() ? work(*pool) : found;
}

template <class Work>
Status Pool::OnStream(DeviceId device, StreamHandle stream, Work&& work) {
  return On(device, [&](DevicePool& pool) {
    StreamFacts facts;
    const DriverStatus looked = life_.LookAt(device, stream, &facts);
    return looked.ok() ? work(pool, facts) : StatusOf(looked);
  });
}

void Pool::LookAgain() { generation_.fetch_add(1, std::memory_order_acq_rel); }

Status Pool::RetireStream(DeviceId device, StreamHandle stream) {
  return OnStream(device, stream, [&](DevicePool& pool, const StreamFacts& facts) {
    pool.CloseOpen({facts.id, stream});
    LookAgain();
    return Status{};
  });
}

Status Pool::BeginGraph(DeviceId device, StreamHandle stream, ArenaId* arena) {
  return OnStream(device, stream, [&](DevicePool& pool, const StreamFacts& facts) {
    const Status begun = pool.BeginGraph(facts, arena);
    LookAgain();
    return begun;
  });
}

Status Pool::EndGraph(DeviceId device, ArenaId arena) {
  return On(device, [&](DevicePool& pool) {
    const Status ended = pool.EndGraph(arena);
    LookAgain();
    return ended;
  });
}

Status Pool::ReleaseGraph(DeviceId device, ArenaId arena) {
  return On(device, [&](DevicePool& pool) { return pool.ReleaseGraph(arena); });
}

Status Pool::Empty(DeviceId device, std::span<Stay> stays, EmptyResult* result) {
  return On(device, [&](DevicePool& pool) { return pool.Empty(stays, result); });
}

Status Pool::AllowAccess(DeviceId device, DeviceId peer) {
  if (Value(peer) >= kMostDevices) return {Code::kInvalid};
  return On(device, [&](DevicePool& pool) { return pool.AllowAccess(peer); });
}

Status Pool::Figures(DeviceId device, Statistics* figures) {
  return On(device, [&](DevicePool& pool) {
    *figures = pool.Figures();
    return Status{};
  });
}

Bytes Pool::Reserved(DeviceId device) {
  DevicePool* pool = nullptr;
  return Device(device, &pool).ok() ? pool->Reserved() : Bytes();
}

Status Pool::Explain(DeviceId device, Bytes requested, Shortage* shortage) {
  return On(device, [&](DevicePool& pool) {
    shortage->requested = requested;
    pool.Explain(shortage);
    return Status{};
  });
}

Status Pool::Forget(DeviceId device) {
  return On(device, [&](DevicePool& pool) {
    pool.Forget();
    return Status{};
  });
}

// A child has the parent's locks as they were, and nothing to give back.
void Pool::ThreadEnded(std::uint32_t thread) {
  if (life_.is_gone()) return;
  for (const std::atomic<DevicePool*>& device : devices_)
    if (DevicePool* pool = device.load(std::memory_order_acquire)) pool->ThreadEnded(thread);
}

const char* Pool::FirstBrokenLaw() {
  for (const std::atomic<DevicePool*>& device : devices_) {
    DevicePool* const pool = device.load(std::memory_order_acquire);
    const char* const broken = pool == nullptr ? nullptr : pool->FirstBrokenLaw();
    if (broken != nullptr) return broken;
  }
  return nullptr;
}

void Pool::Stop() {
  life_.Stop();
  StopTelling(this);
}

void Pool::Shutdown() {
  StopTelling(this);
  for (std::atomic<DevicePool*>& device : devices_)
    if (DevicePool* pool = device.exchange(nullptr)) pool->Shutdown();
  device_table_.Clear();
  extents_.Release();
  generation_.store(0, std::memory_order_release);
}

}  // namespace cuheap::pool
