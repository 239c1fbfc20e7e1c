#include "allocator/ledger/events.h"

#include <algorithm>
#include <new>

namespace cuheap {
namespace {

using format::ChunkHeader;
using format::EventRecord;
using format::Mode;

constexpr std::uint64_t kRecord = sizeof(EventRecord);
constexpr Bytes kFullChunk = 1_MiB;

std::uint64_t Committed(const ChunkHeader* chunk) {
  return chunk->committed.load(std::memory_order_relaxed);
}

std::uint64_t RoomIn(const ChunkHeader* chunk) {
  return (Chunks::PayloadBytes(chunk).count() - Committed(chunk)) / kRecord;
}

EventRecord* RecordsOf(ChunkHeader* chunk) {
  return reinterpret_cast<EventRecord*>(Chunks::Payload(chunk));
}

}  // namespace

Bytes Events::Share(Mode mode, Bytes limit) {
  if (mode == Mode::kSummary) return {};
  const Bytes quarter(limit.count() / 4);
  return mode == Mode::kEvents ? quarter : quarter + quarter + quarter;
}

void Events::Start(Mode mode, Bytes limit) {
  mode_ = mode;
  left_ = Share(mode, limit);
  const std::uint64_t unit = format::kChunkUnit;
  const Bytes part(std::max(left_.count() / kMostChunks / unit * unit, unit));
  chunk_bytes_ = mode == Mode::kFull ? std::min(kFullChunk, part) : part;
}

void Events::Add(const EventRecord& event) {
  // The last place of mode full is the gap's.
  const std::uint64_t kept = mode_ == Mode::kFull ? 1 : 0;
  if (last_gap_ != nullptr || ((newest_ == nullptr || RoomIn(newest_) <= kept) && !BeginChunk())) {
    Lose(event.time);
  } else {
    Put(event);
  }
}

bool Events::BeginChunk() {
  if (Append()) return true;
  if (mode_ != Mode::kEvents || begun_ == 0) return false;
  Reuse();
  return true;
}

bool Events::Append() {
  if (left_ < chunk_bytes_ || (mode_ == Mode::kEvents && begun_ == kMostChunks)) return false;
  ChunkHeader* chunk =
      chunks_.Append(format::ChunkType::kEvent, kRecord, chunk_bytes_ - Bytes(sizeof(ChunkHeader)));
  if (chunk == nullptr) {
    left_ = Bytes();  // a disk that is full is not asked at every event
    return false;
  }
  left_ -= chunk_bytes_;
  newest_ = chunk;
  if (mode_ == Mode::kEvents) ring_[begun_++] = chunk;
  return true;
}

// A reader that looks meanwhile sees that the chunk's turn changed.
void Events::Reuse() {
  newest_ = ring_[next_];
  next_ = (next_ + 1) % begun_;
  const std::uint64_t records = Committed(newest_) / kRecord;
  const bool had_gap = RecordsOf(newest_)[0].kind == format::EventKind::kGap;
  const std::uint64_t time = RecordsOf(newest_)[records - 1].time;
  newest_->committed.store(0, std::memory_order_relaxed);
  __atomic_store_n(&newest_->parameter, newest_->parameter + 1, __ATOMIC_RELEASE);
  std::atomic_thread_fence(std::memory_order_release);
  std::atomic<std::uint64_t>& dropped = chunks_.header()->dropped_events;
  dropped.fetch_add(records - (had_gap ? 1 : 0), std::memory_order_relaxed);
  Put({.time = time,
       .address = dropped.load(std::memory_order_relaxed),
       .kind = format::EventKind::kGap});
}

void Events::Put(const EventRecord& event) {
  new (Chunks::Payload(newest_) + Committed(newest_)) EventRecord(event);
  newest_->committed.fetch_add(kRecord, std::memory_order_release);
}

void Events::Lose(std::uint64_t time) {
  const std::uint64_t dropped =
      chunks_.header()->dropped_events.fetch_add(1, std::memory_order_relaxed) + 1;
  if (last_gap_ == nullptr) {
    if (newest_ == nullptr || RoomIn(newest_) == 0) return;  // not one chunk: the header says it
    last_gap_ = RecordsOf(newest_) + Committed(newest_) / kRecord;
    Put({.time = time, .address = dropped, .kind = format::EventKind::kGap});
  }
  __atomic_store_n(&last_gap_->address, dropped, __ATOMIC_RELAXED);
}

}  // namespace cuheap
