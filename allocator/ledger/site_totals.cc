#include "allocator/ledger/site_totals.h"

#include <algorithm>
#include <bit>
#include <new>

namespace cuheap {
namespace {

using format::SiteTotals;

constexpr Bytes kChunk = 32_KiB;

template <typename T>
void Add(std::atomic<T>& counter, T amount) {
  // One writer at a time: a plain store is enough, and cheaper than a locked addition.
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

int Bucket(std::uint64_t value, int buckets) {
  return std::min(static_cast<int>(std::bit_width(value)), buckets - 1);
}

}  // namespace

bool SiteTotalsTable::Start(std::uint32_t largest) {
  largest_ = largest;
  return memory_.Reserve(Bytes((std::uint64_t{largest} + 1) * sizeof(SiteTotals*)));
}

[[gnu::hot]] SiteTotals* SiteTotalsTable::At(SiteId site) {
  const std::uint32_t index = std::min(Value(site), largest_);
  if (!memory_.CommitUpTo(Bytes((std::uint64_t{index} + 1) * sizeof(SiteTotals*)))) return nullptr;
  SiteTotals*& place = reinterpret_cast<SiteTotals**>(memory_.data())[index];
  if (place != nullptr) return place;
  if (newest_ == nullptr ||
      newest_->committed.load(std::memory_order_relaxed) + sizeof(SiteTotals) >
          Chunks::PayloadBytes(newest_).count()) {
    format::ChunkHeader* chunk = chunks_.Append(format::ChunkType::kTotal, sizeof(SiteTotals),
                                                kChunk - Bytes(sizeof(format::ChunkHeader)));
    if (chunk == nullptr) return nullptr;
    newest_ = chunk;
  }
  place = new (Chunks::Payload(newest_) + newest_->committed.load(std::memory_order_relaxed))
      SiteTotals();
  place->site = index;
  newest_->committed.fetch_add(sizeof(SiteTotals), std::memory_order_release);
  return place;
}

[[gnu::hot]] void SiteTotalsTable::Born(SiteId site, Bytes bytes, std::uint64_t now) {
  SiteTotals* totals = At(site);
  if (totals == nullptr) return;
  Add<std::uint64_t>(totals->blocks, 1);
  Add(totals->bytes, bytes.count());
  totals->last_birth_time.store(now, std::memory_order_relaxed);
  Add(totals->live_bytes, bytes.count());
  const std::uint64_t live = totals->live_bytes.load(std::memory_order_relaxed);
  if (live > totals->peak_bytes.load(std::memory_order_relaxed))
    totals->peak_bytes.store(live, std::memory_order_relaxed);
}

[[gnu::hot]] void SiteTotalsTable::Died(SiteId site, Bytes bytes, const Life& life) {
  SiteTotals* totals = At(site);
  if (totals == nullptr) return;
  Add<std::uint64_t>(totals->freed_blocks, 1);
  Add(totals->live_bytes, std::uint64_t{0} - bytes.count());
  totals->last_free_time.store(life.free_time, std::memory_order_relaxed);
  Add(totals->steps_lived[Bucket(life.free_step - life.birth_step, format::kStepBuckets)], 1u);
  Add(totals->microseconds_lived[Bucket((life.free_time - life.birth_time) / 1000,
                                        format::kTimeBuckets)],
      1u);
}

void SiteTotalsTable::Undied(SiteId site, Bytes bytes) {
  SiteTotals* totals = At(site);
  if (totals == nullptr) return;
  Add(totals->freed_blocks, std::uint64_t{0} - 1);
  Add(totals->live_bytes, bytes.count());
}

}  // namespace cuheap
