#include "allocator/ledger/live_sums.h"

#include <algorithm>

namespace cuheap {
namespace {

using format::BlockRecord;
using format::Heap;

bool InUsed(Heap heap) {
  switch (heap) {
#define CUHEAP_HEAP(id, name, in_used, sees_requested, sees_waiting, sees_pool, what) \
  case Heap::k_##name:                                                                \
    return in_used;
#include "allocator/ledger/heaps.def"
#undef CUHEAP_HEAP
    default:
      return true;
  }
}

bool Counts(const BlockRecord& record) {
  return CountsAsLive(record.heap, record.flags.load(std::memory_order_relaxed));
}

// One writer at a time: a plain store is enough, and cheaper than a locked addition.
std::uint64_t AddTo(std::atomic<std::uint64_t>& sum, std::uint64_t amount) {
  const std::uint64_t result = sum.load(std::memory_order_relaxed) + amount;
  sum.store(result, std::memory_order_relaxed);
  return result;
}

}  // namespace

bool CountsAsLive(Heap heap, std::uint8_t flags) {
  constexpr std::uint8_t kSegment = format::kServedAsSegment | format::kExpectSegment;
  return InUsed(heap) && (flags & kSegment) == 0;
}

[[gnu::hot]] void LiveSums::Add(const BlockRecord& record, std::uint64_t now, std::uint64_t step) {
  if (!Counts(record)) return;
  format::DeviceHeader& device = chunks_.header()->devices[record.device];
  const std::uint64_t live = AddTo(device.live_bytes, record.block_bytes);
  live_total_ += record.block_bytes;
  peak_total_ = std::max(peak_total_, live_total_);
  if (live <= device.peak_live_bytes.load(std::memory_order_relaxed)) return;
  device.peak_live_bytes.store(live, std::memory_order_relaxed);
  device.peak_time.store(now, std::memory_order_relaxed);
  if (!instants_.Keep(
          {.kind = format::InstantKind::kPeak, .device = record.device, .requested = {}},
          Nanoseconds(now), step))
    AddTo(chunks_.header()->dropped.instants, 1);
}

[[gnu::hot]] void LiveSums::Subtract(const BlockRecord& record) {
  if (!Counts(record)) return;
  AddTo(chunks_.header()->devices[record.device].live_bytes, 0 - record.block_bytes);
  live_total_ -= record.block_bytes;
}

void LiveSums::TakeBack(const BlockRecord& record) {
  if (!Counts(record)) return;
  Subtract(record);
  format::DeviceHeader& device = chunks_.header()->devices[record.device];
  if (device.peak_time.load(std::memory_order_relaxed) >= record.birth_time)
    AddTo(device.peak_live_bytes, 0 - record.block_bytes);
  peak_total_ = std::max(peak_total_ - record.block_bytes, live_total_);
  instants_.NeverLived(record.birth_time, record.device, Bytes(record.block_bytes));
}

}  // namespace cuheap
