// Blocks: births, deaths, and what changes its mind.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "allocator/ledger/ledger_state.h"

namespace cuheap {
namespace {

using format::BlockRecord;
using format::BlockState;
using format::DictionaryKind;
using format::EventKind;
using format::Heap;

constexpr std::uint32_t kMostShortIds = 0xffff;  // threads and streams have 16 bits in a record
constexpr int kSweepForRoom = 64;
constexpr int kSweepWhenFull = 1024;

struct CachedThread {
  const void* ledger = nullptr;
  std::uint16_t id = 0;
};
thread_local CachedThread cached_thread;

// Takes the record out of readers' sight, gives it a new generation, lets `fill` write it, and
// publishes it.
template <typename Fill>
void Publish(BlockRecord& record, Fill fill) {
  const std::uint32_t generation = (record.state.load(std::memory_order_relaxed) >> 8) + 1;
  record.state.store(format::StateWord(BlockState::kFree, generation), std::memory_order_relaxed);
  // What is written next must not become visible before it.
  std::atomic_thread_fence(std::memory_order_release);
  fill();
  record.state.store(format::StateWord(BlockState::kLive, generation), std::memory_order_release);
}

bool IsSegment(const BlockRecord& record) {
  constexpr std::uint8_t kSegment = format::kExpectSegment | format::kServedAsSegment;
  return (record.flags.load(std::memory_order_relaxed) & kSegment) != 0;
}

void SetState(BlockRecord& record, BlockState state) {
  const std::uint32_t generation = record.state.load(std::memory_order_relaxed) >> 8;
  record.state.store(format::StateWord(state, generation), std::memory_order_release);
}

}  // namespace

std::uint16_t Ledger::Impl::Thread() {
  if (cached_thread.ledger == this) return cached_thread.id;
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  format::ThreadEntry entry{};
  entry.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  entry.name = InternText(name);
  const std::uint32_t id =
      dictionary.Intern({DictionaryKind::kThread, PartOf(entry)}, kMostShortIds);
  cached_thread = {this, static_cast<std::uint16_t>(id)};
  return cached_thread.id;
}

std::uint16_t Ledger::Impl::Stream(DeviceId device, StreamHandle handle) {
  if (handle == StreamHandle{}) return 0;
  format::StreamEntry entry{};
  entry.handle = static_cast<std::uint64_t>(handle);
  entry.device = Value(device);
  return static_cast<std::uint16_t>(
      dictionary.Intern({DictionaryKind::kStream, PartOf(entry)}, kMostShortIds));
}

// ---------------------------------------------------------------- births

[[gnu::hot]] void Ledger::Impl::Fill(BlockRecord& record, const Birth& birth, std::uint64_t now) {
  record.address = Value(birth.address);
  record.block_bytes = birth.block_bytes.count();
  record.requested_bytes = birth.requested_bytes.count();
  record.birth_time = now;
  record.free_time.store(0, std::memory_order_relaxed);
  record.site = Value(birth.site);
  record.birth_step = static_cast<std::uint32_t>(steps());
  record.arena = birth.arena;
  record.stream = Stream(birth.device, birth.stream);
  record.device = static_cast<std::uint8_t>(birth.device);
  record.heap = birth.heap;
  record.thread = Thread();
  record.phase = birth.phase;
  record.flags.store(birth.flags, std::memory_order_relaxed);
  record.segment_heap = static_cast<std::uint8_t>(birth.segment_heap);
}

[[gnu::hot]] void Ledger::Impl::CountBirth(const BlockRecord& record, std::uint64_t now) {
  totals.Born(SiteId(record.site), Bytes(record.block_bytes), now);
  live.Add(record, now, steps());
}

void Ledger::Impl::DropBirth(const Birth& birth) {
  header().dropped.blocks.fetch_add(1, std::memory_order_relaxed);
  header().dropped.block_bytes.fetch_add(birth.block_bytes.count(), std::memory_order_relaxed);
  births_dropped = true;
}

void Ledger::Impl::TellEvent(EventKind kind, const BlockRecord& record, std::uint64_t now) {
  const std::uint64_t requested = record.requested_bytes;
  events.Add({.time = now,
              .address = record.address,
              .bytes = requested != 0 ? requested : record.block_bytes,
              .stream = record.stream,
              .arena = record.arena,
              .device = record.device,
              .heap = record.heap,
              .kind = kind,
              .phase = record.phase});
}

// A full file gives up history before it gives up the present.
[[gnu::hot]] RecordId Ledger::Impl::TakeRecord() {
  if (!blocks.has_free() && instants.has_homeless()) instants.Sweep(kSweepForRoom);
  const RecordId id = blocks.Take();
  if (id != RecordId::kNone) return id;
  if (instants.has_homeless() || instants.ThinForRoom()) instants.Sweep(kSweepWhenFull);
  return blocks.has_free() ? blocks.Take() : RecordId::kNone;
}

[[gnu::hot]] RecordId Ledger::Impl::Born(const Birth& birth) {
  if (Value(birth.device) >= format::kMaxDevices) {
    header().dropped.devices.fetch_add(1, std::memory_order_relaxed);
    return RecordId::kNone;
  }
  instants.SawDevice(static_cast<std::uint8_t>(birth.device));
  ByteClock(birth);
  instants.Sweep();
  // Two blocks cannot live at one address: the end of the first was not seen. Address 0 is no
  // address (memory that is mapped nowhere).
  const RecordId stale =
      birth.address == Address{} ? RecordId::kNone : blocks.Remove(birth.heap, birth.address);
  if (stale != RecordId::kNone) Kill(stale, Now());
  const RecordId id = TakeRecord();
  if (id == RecordId::kNone) {
    DropBirth(birth);
    return RecordId::kNone;
  }
  BlockRecord& record = blocks.At(id);
  const std::uint64_t now = Now();
  Publish(record, [&] { Fill(record, birth, now); });
  blocks.Insert(id);
  CountBirth(record, now);
  if (events.on()) [[unlikely]]
    TellEvent(IsSegment(record) ? EventKind::kSegmentMap : EventKind::kAllocation, record, now);
  return id;
}

void Ledger::Expect(Heap heap, Address address) const {
  if (impl_ != nullptr) impl_->blocks.Expect(heap, address);
}

[[gnu::hot]] RecordId Ledger::Born(const Birth& birth) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  return section ? section->Born(birth) : RecordId::kNone;
}

// ---------------------------------------------------------------- deaths

// REQUIRES: out of the address index.
[[gnu::hot]] void Ledger::Impl::Kill(RecordId id, std::uint64_t now) {
  BlockRecord& record = blocks.At(id);
  totals.Died(SiteId(record.site), Bytes(record.block_bytes),
              {record.birth_time, now, record.birth_step, steps()});
  live.Subtract(record);
  if (events.on()) [[unlikely]]
    TellEvent(IsSegment(record) ? EventKind::kSegmentUnmap : EventKind::kFree, record, now);
  record.free_time.store(now, std::memory_order_relaxed);
  SetState(record, BlockState::kDead);
  instants.Bury(id);
}

[[gnu::hot]] Death Ledger::Impl::Died(Heap heap, Address address, Free free) {
  instants.Sweep();
  const RecordId id = blocks.Remove(heap, address);
  if (id == RecordId::kNone) {
    header().dropped.unknown_frees.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  const BlockRecord& record = blocks.At(id);
  const Death death{true, Bytes(record.block_bytes), DeviceId(record.device), SiteId(record.site)};
  if (free == Free::kMayFail) deaths.Remember(id, record);
  Kill(id, AboutNow());
  return death;
}

[[gnu::hot]] Death Ledger::Died(Heap heap, Address address, Free free) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  return section ? section->Died(heap, address, free) : Death{};
}

// The block gets a record of its own again: the old one may be reused by now, or stand in the list
// of an instant. There it would show the block twice, so it is emptied; the sweep takes it later.
void Ledger::Impl::Revive(RecentDeath& death) {
  const RecordId id = TakeRecord();
  if (id == RecordId::kNone) {
    header().dropped.blocks.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  BlockRecord& record = blocks.At(id);
  Publish(record, [&] {
    std::memcpy(static_cast<void*>(&record), death.copy, offsetof(BlockRecord, state));
    record.free_time.store(0, std::memory_order_relaxed);
  });
  BlockRecord& old = blocks.At(death.id);
  if (old.birth_time == record.birth_time && death.id != id &&
      format::StateOf(old.state.load(std::memory_order_relaxed)) == BlockState::kDead)
    SetState(old, BlockState::kFree);
  blocks.Insert(id);
  totals.Undied(SiteId(record.site), Bytes(record.block_bytes));
  const std::uint64_t now = Now();
  live.Add(record, now, steps());
  if (events.on()) [[unlikely]]
    TellEvent(EventKind::kFreeFailed, record, now);
  death.id = RecordId::kNone;
}

void Ledger::Undo(Heap heap, Address address) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  if (!section || section->blocks.Find(heap, address) != RecordId::kNone) return;
  RecentDeath* death = section->deaths.Find(heap, address);
  if (death != nullptr) section->Revive(*death);
}

void Ledger::ServeAsSegment(Heap heap, Address address, Heap user) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  if (!section) return;
  const RecordId id = section->blocks.Find(heap, address);
  if (id == RecordId::kNone) return;
  BlockRecord& record = section->blocks.At(id);
  const std::uint8_t flags = record.flags.load(std::memory_order_relaxed);
  if ((flags & format::kServedAsSegment) != 0) return;
  section->live.TakeBack(record);
  record.segment_heap = static_cast<std::uint8_t>(user);
  record.flags.store(
      static_cast<std::uint8_t>((flags & ~format::kExpectSegment) | format::kServedAsSegment),
      std::memory_order_release);
}

}  // namespace cuheap
