// Freed blocks that other streams use: events, and what becomes of the blocks when they are
// reached.
#include <mutex>

#include "allocator/pool/device_pool.h"

namespace cuheap::pool {
namespace {

// An event costs more than a block is worth: small ones are put together.
constexpr std::uint32_t kBatch = 16;
constexpr Bytes kWorthAnEvent = 1_MiB;

}  // namespace

EventHandle DevicePool::TakeEvent(StreamHandle stream) {
  {
    const std::lock_guard lock(mutex_);
    if (event_count_ > 0) return events_[--event_count_];
  }
  EventHandle event{};
  (void)driver_.CreateEvent(device_, stream, &event);
  return event;
}

void DevicePool::KeepEvent(EventHandle event) {
  if (event == EventHandle{}) return;
  {
    const std::lock_guard lock(mutex_);
    if (event_count_ < kMostEvents) {
      events_[event_count_++] = event;
      return;
    }
  }
  (void)driver_.DestroyEvent(event);
}

void DevicePool::FreeLater(const BlockRef& block, const StreamUse* last) {
  constexpr std::size_t kMostStreams = 64;
  std::array<StreamUse, kMostStreams> uses{};
  std::array<StreamId, kMostStreams> streams{};
  std::size_t count = 0;
  bool waits = false;
  Bytes bytes;
  {
    const std::lock_guard lock(mutex_);
    const Address address = extents_.AddressOf(block);
    bytes = extents_.BytesOf(block);
    if (last != nullptr) uses[count++] = *last;
    StreamUse use;
    while (uses_.Take(address, &use)) {
      const bool known = last != nullptr && use.stream == last->stream;
      if (!known && count < kMostStreams) uses[count++] = use;
    }
    for (std::size_t i = 0; i < count; ++i) streams[i] = uses[i].stream;
    waits = waiting_.Add(address, bytes, {streams.data(), count});
  }
  if (!waits) {
    // No memory to remember it by: the host waits instead.
    if (WaitForDevices().ok()) Free(block);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    bool now = bytes >= kWorthAnEvent;
    if (!now) {
      const std::lock_guard lock(mutex_);
      now = waiting_.OpenBlocks(uses[i].stream) >= kBatch;
    }
    if (now) CloseOpen(uses[i]);
  }
}

// The handle may be another stream's by now, or none: then the batch stays open until its stream is
// here again, or the device is waited for.
void DevicePool::CloseOpen(const StreamUse& use) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.OpenBlocks(use.stream) == 0) return;
  }
  StreamFacts facts;
  const DriverStatus looked = driver_.LookAt(device_, use.handle, &facts);
  if (!looked.ok() || facts.id != use.stream || facts.capturing) return;
  WaitingBlocks::Batch batch;
  {
    const std::lock_guard lock(mutex_);
    batch = waiting_.TakeOpen(use.stream);
  }
  if (!batch) return;
  const EventHandle event = TakeEvent(use.handle);
  const bool recorded = event != EventHandle{} && driver_.Record(device_, use.handle, event).ok();
  if (!recorded) KeepEvent(event);
  const std::lock_guard lock(mutex_);
  if (recorded)
    waiting_.Close(batch, event);
  else
    waiting_.PutBack(batch);
}

// Each stream's batches in turn, as far as they are reached.
void DevicePool::Poll() {
  SlotId cursor = 0;
  for (;;) {
    WaitingBlocks::Batch batch;
    {
      const std::lock_guard lock(mutex_);
      batch = waiting_.TakeOldest(&cursor);
      if (!batch) return;
    }
    const bool reached = driver_.Query(waiting_.EventOf(batch)).ok();
    EventHandle event{};
    {
      const std::lock_guard lock(mutex_);
      if (reached) {
        event = waiting_.Reach(batch, [&](Address block) { GiveBackAt(block); });
        --cursor;  // the stream's next one may be reached, too
      } else {
        waiting_.PutBack(batch);
      }
    }
    KeepEvent(event);
  }
}

bool DevicePool::WaitForLargest() {
  WaitingBlocks::Batch batch;
  {
    const std::lock_guard lock(mutex_);
    batch = waiting_.TakeLargest();
  }
  if (!batch) return false;
  const bool reached = driver_.Wait(waiting_.EventOf(batch)).ok();
  EventHandle event{};
  {
    const std::lock_guard lock(mutex_);
    if (reached)
      event = waiting_.Reach(batch, [&](Address block) { GiveBackAt(block); });
    else
      waiting_.PutBack(batch);
  }
  KeepEvent(event);
  return reached;
}

// Devices that may use the memory have work on it, too.
DriverStatus DevicePool::WaitForDevices() {
  std::uint64_t devices = 0;
  {
    const std::lock_guard lock(mutex_);
    devices = access_;
  }
  for (std::uint8_t device = 0; devices >> device != 0; ++device) {
    if ((devices >> device & 1) == 0) continue;
    const DriverStatus waited = driver_.WaitForDevice(DeviceId(device));
    if (!waited.ok()) return waited;
  }
  return {};
}

// Everything that waits is taken before the wait, open batches too: what joins meanwhile is not
// covered by it.
DriverStatus DevicePool::WaitForEverything() {
  constexpr std::size_t kMost = 256;
  std::array<WaitingBlocks::Batch, kMost> batches{};
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    while (count < kMost && (batches[count] = waiting_.TakeAny())) ++count;
  }
  const DriverStatus waited = WaitForDevices();
  std::array<EventHandle, kMost> events{};
  {
    const std::lock_guard lock(mutex_);
    // Backwards, so that what goes back to the front stands in order.
    for (std::size_t i = count; i-- > 0;) {
      if (waited.ok())
        events[i] = waiting_.Reach(batches[i], [&](Address block) { GiveBackAt(block); });
      else
        waiting_.PutBack(batches[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) KeepEvent(events[i]);
  return waited;
}

}  // namespace cuheap::pool
