#include "allocator/ledger/ledger.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "allocator/base/report_line.h"
#include "allocator/base/virtual_range.h"
#include "allocator/ledger/block_table.h"
#include "allocator/ledger/chunks.h"
#include "allocator/ledger/dictionary.h"
#include "allocator/ledger/identity.h"
#include "allocator/ledger/instants.h"
#include "allocator/ledger/shared_file.h"
#include "allocator/ledger/site_totals.h"
#include "allocator/ledger/step_clock.h"

namespace cuheap {
namespace {

using format::BlockRecord;
using format::BlockState;
using format::DictionaryKind;
using format::Heap;
using format::InstantKind;
using format::Signal;

constexpr Bytes kSmallestLimit = 1_MiB;
constexpr Bytes kSmallestWindow = 64_MiB;  // of the byte clock
constexpr std::uint32_t kOverflowSites = 2048;
constexpr std::uint32_t kMostMarks = 1024;
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestLineTable = 65536;
constexpr int kUndoable =
    16;  // deaths that may still turn out to have failed: one a thread in practice

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

// A segment holds other blocks and is not itself live (design.md 3); one that is expected to become
// one neither.
bool CountsAsLive(const BlockRecord& record) {
  constexpr std::uint8_t kSegment = format::kServedAsSegment | format::kExpectSegment;
  return InUsed(record.heap) && (record.flags.load(std::memory_order_relaxed) & kSegment) == 0;
}

Dictionary::Part TextPart(std::string_view text) {
  return std::as_bytes(std::span(text.data(), std::min(text.size(), kLongestText)));
}

// A page that the kernel zeroes in a forked child, raw clone included: reading it tells the child
// without a system call.
const volatile char* MakeForkPage() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    munmap(page, 4096);
    return nullptr;
  }
  *static_cast<char*>(page) = 1;
  return static_cast<const volatile char*>(page);
}

struct CachedThread {
  const void* ledger = nullptr;
  std::uint16_t id = 0;
};
thread_local CachedThread cached_thread;

}  // namespace

struct Ledger::Impl {
  Impl()
      : chunks(file),
        blocks(chunks),
        instants(chunks, blocks),
        dictionary(chunks),
        totals(chunks),
        clock_of_steps(chunks) {}

  struct Undoable {
    RecordId id = RecordId::kNone;
    std::uint64_t address = 0;
    std::uint64_t birth_time = 0;
    Heap heap{};
    BlockRecord* Copy() { return reinterpret_cast<BlockRecord*>(copy); }
    alignas(BlockRecord) std::byte copy[sizeof(BlockRecord)] = {};
  };

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const volatile char* fork_page = nullptr;
  Clock* clock = nullptr;
  std::uint32_t max_sites = 0;
  std::atomic<bool> closed{false};

  // Guarded by mutex.
  SharedFile file;
  Chunks chunks;
  BlockTable blocks;
  Instants instants;
  Dictionary dictionary;
  SiteTotalsTable totals;
  StepClock clock_of_steps;
  std::uint64_t last_time = 0;
  std::uint64_t live_total = 0;
  std::uint64_t peak_total = 0;
  std::uint64_t window_bytes = 0;
  bool seen_oom = false;
  bool said_full = false;
  std::uint32_t marks = 0;
  format::ChunkHeader* mark_chunk = nullptr;
  Undoable undoable[kUndoable];
  int next_undoable = 0;

  format::FileHeader& header() { return *chunks.header(); }
  bool Forked() const { return fork_page != nullptr && *fork_page == 0; }
  bool Works() { return !Forked() && !closed.load(std::memory_order_relaxed); }

  std::uint64_t Now() {
    const std::uint64_t now = clock->MonotonicNs() - header().monotonic_start_ns;
    last_time = std::max(now, last_time + 1);
    header().last_event_time.store(last_time, std::memory_order_relaxed);
    return last_time;
  }

  std::uint16_t Thread();
  std::uint16_t Stream(DeviceId device, StreamHandle handle);
  RecordId Born(const Birth& birth);
  void Fill(BlockRecord& record, const Birth& birth, std::uint64_t now, std::uint16_t stream);
  void CountBirth(const BlockRecord& record, std::uint64_t now);
  void ChangeLive(DeviceId device, std::int64_t bytes);
  void RaisePeak(std::uint8_t device, std::uint64_t now);
  void Kill(RecordId id, std::uint64_t now);
  void Remember(RecordId id);
  void Revive(Undoable& dead);
  bool Tick(Signal signal);
  void ByteClock(Bytes bytes);
  void DropBirth(const Birth& birth);
  void AddMark(format::MarkKind kind, std::uint64_t now, std::uint64_t value, std::uint32_t name,
               std::uint8_t device);
  std::uint32_t Intern(DictionaryKind kind, Dictionary::Part first, Dictionary::Part second = {}) {
    return dictionary.Intern(kind, first, second);
  }
};

namespace {

// The one lock, held for bounded work. Not taken in a forked child, where another thread may have
// held it.
class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

// ---------------------------------------------------------------- life

bool Ledger::Open(const LedgerOptions& options, Clock& clock) {
  static_assert(std::is_trivially_destructible_v<Instants>);
  void* memory =
      mmap(nullptr, sizeof(Impl), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* impl = new (memory) Impl();
  const Bytes limit = std::max(options.limit, kSmallestLimit);
  impl->clock = &clock;
  impl->max_sites = options.max_sites;
  impl->fork_page = MakeForkPage();
  bool works = impl->file.Create(options.destination, options.shared_folder, limit);
  if (works) {
    auto* header = new (impl->file.data()) format::FileHeader();
    WriteIdentity(*header, options, impl->file, clock);
    works = impl->blocks.Start(limit) && impl->dictionary.Start() &&
            impl->totals.Start(options.max_sites + kOverflowSites) && impl->instants.Start(limit);
  }
  if (!works) {
    ReportLine("no memory for a trace of %s; nothing is recorded", options.destination);
    return false;
  }
  impl_ = impl;
  return true;
}

bool Ledger::is_open() const { return impl_ != nullptr && impl_->Works(); }

void Ledger::Close() {
  if (!is_open()) return;
  Bytes used;
  {
    const Locked lock(impl_->mutex);
    if (impl_->closed.exchange(true)) return;
    const std::uint64_t now = impl_->Now();
    impl_->instants.Keep({.kind = InstantKind::kExit, .requested = {}}, Nanoseconds(now),
                         impl_->clock_of_steps.steps());
    impl_->header().close_time.store(now, std::memory_order_relaxed);
    impl_->header().clean_close.store(1, std::memory_order_release);
    used = impl_->file.size();
  }
  if (!impl_->file.BringHome(used) && impl_->file.linked())
    ReportLine("cannot write %s; the trace stays in %s", impl_->file.destination(),
               impl_->file.path());
}

void Ledger::Abandon() {
  if (impl_ != nullptr) impl_->closed.store(true);
}

void Ledger::Checkpoint() {
  if (!is_open()) return;
  const Bytes used(impl_->header().used_bytes.load(std::memory_order_acquire));
  if (impl_->file.storage() == format::Storage::kPrivate) {
    impl_->file.CopyTo(impl_->file.destination(), used);
    return;
  }
  char path[kPathBytes + 16];
  std::snprintf(path, sizeof path, "%s.checkpoint", impl_->file.destination());
  if (impl_->file.storage() == format::Storage::kSharedMemory) impl_->file.CopyTo(path, used);
}

// ---------------------------------------------------------------- blocks

std::uint16_t Ledger::Impl::Thread() {
  if (cached_thread.ledger == this) return cached_thread.id;
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  format::ThreadEntry entry{};
  entry.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  entry.name = Intern(DictionaryKind::kString, TextPart(name));
  const std::uint32_t id = dictionary.Intern(DictionaryKind::kThread, PartOf(entry), {}, 0xffff);
  cached_thread = {this, static_cast<std::uint16_t>(id)};
  return cached_thread.id;
}

std::uint16_t Ledger::Impl::Stream(DeviceId device, StreamHandle handle) {
  if (handle == StreamHandle{}) return 0;
  format::StreamEntry entry{};
  entry.handle = static_cast<std::uint64_t>(handle);
  entry.device = Value(device);
  return static_cast<std::uint16_t>(
      dictionary.Intern(DictionaryKind::kStream, PartOf(entry), {}, 0xffff));
}

void Ledger::Impl::Fill(BlockRecord& record, const Birth& birth, std::uint64_t now,
                        std::uint16_t stream) {
  record.address = Value(birth.address);
  record.block_bytes = birth.block_bytes.count();
  record.requested_bytes = birth.requested_bytes.count();
  record.birth_time = now;
  record.free_time.store(0, std::memory_order_relaxed);
  record.site = Value(birth.site);
  record.birth_step = static_cast<std::uint32_t>(clock_of_steps.steps());
  record.arena = birth.arena;
  record.stream = stream;
  record.device = static_cast<std::uint8_t>(birth.device);
  record.heap = birth.heap;
  record.thread = Thread();
  record.phase = birth.phase;
  record.flags.store(birth.flags, std::memory_order_relaxed);
  record.segment_heap = static_cast<std::uint8_t>(birth.segment_heap);
}

void Ledger::Impl::ChangeLive(DeviceId device, std::int64_t bytes) {
  std::atomic<std::uint64_t>& live = header().devices[Value(device)].live_bytes;
  live.store(live.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(bytes),
             std::memory_order_relaxed);
  live_total += static_cast<std::uint64_t>(bytes);
}

void Ledger::Impl::RaisePeak(std::uint8_t device, std::uint64_t now) {
  format::DeviceHeader& figures = header().devices[device];
  const std::uint64_t live = figures.live_bytes.load(std::memory_order_relaxed);
  if (live <= figures.peak_live_bytes.load(std::memory_order_relaxed)) return;
  figures.peak_live_bytes.store(live, std::memory_order_relaxed);
  figures.peak_time.store(now, std::memory_order_relaxed);
  instants.Keep({.kind = InstantKind::kPeak, .device = device, .requested = {}}, Nanoseconds(now),
                clock_of_steps.steps());
}

void Ledger::Impl::CountBirth(const BlockRecord& record, std::uint64_t now) {
  totals.Born(SiteId(record.site), Bytes(record.block_bytes), now);
  if (!CountsAsLive(record)) return;
  ChangeLive(DeviceId(record.device), static_cast<std::int64_t>(record.block_bytes));
  peak_total = std::max(peak_total, live_total);
  RaisePeak(record.device, now);
}

void Ledger::Impl::DropBirth(const Birth& birth) {
  header().dropped.blocks.fetch_add(1, std::memory_order_relaxed);
  header().dropped.block_bytes.fetch_add(birth.block_bytes.count(), std::memory_order_relaxed);
  if (said_full) return;
  said_full = true;
  ReportLine("the trace %s cannot grow (disk full or limit reached): later blocks are only counted",
             file.destination());
}

RecordId Ledger::Impl::Born(const Birth& birth) {
  if (Value(birth.device) >= format::kMaxDevices) {
    header().dropped.devices.fetch_add(1, std::memory_order_relaxed);
    return RecordId::kNone;
  }
  ByteClock(birth.block_bytes);
  instants.Sweep();
  const RecordId stale = blocks.Remove(birth.heap, birth.address);
  if (stale != RecordId::kNone)
    Kill(stale, Now());  // its end was not seen; two blocks cannot live at one address
  if (!blocks.has_free() && instants.has_homeless()) instants.Sweep(64);
  const RecordId id = blocks.Take();
  if (id == RecordId::kNone) {
    DropBirth(birth);
    return RecordId::kNone;
  }
  const std::uint16_t stream = Stream(birth.device, birth.stream);
  BlockRecord& record = blocks.At(id);
  const std::uint32_t generation = (record.state.load(std::memory_order_relaxed) >> 8) + 1;
  // An exchange, not a store: what is written next must not become visible before it.
  record.state.exchange(format::StateWord(BlockState::kFree, generation),
                        std::memory_order_acq_rel);
  const std::uint64_t now = Now();
  Fill(record, birth, now, stream);
  record.state.store(format::StateWord(BlockState::kLive, generation), std::memory_order_release);
  blocks.Insert(id);
  CountBirth(record, now);
  return id;
}

void Ledger::Impl::Remember(RecordId id) {
  const BlockRecord& record = blocks.At(id);
  Undoable& slot = undoable[next_undoable];
  next_undoable = (next_undoable + 1) % kUndoable;
  slot.id = id;
  slot.address = record.address;
  slot.heap = record.heap;
  slot.birth_time = record.birth_time;
  std::memcpy(slot.copy, static_cast<const void*>(&record), sizeof record);
}

// REQUIRES: out of the address index.
void Ledger::Impl::Kill(RecordId id, std::uint64_t now) {
  BlockRecord& record = blocks.At(id);
  totals.Died(SiteId(record.site), Bytes(record.block_bytes),
              {record.birth_time, now, record.birth_step, clock_of_steps.steps()});
  if (CountsAsLive(record))
    ChangeLive(DeviceId(record.device), -static_cast<std::int64_t>(record.block_bytes));
  record.free_time.store(now, std::memory_order_relaxed);
  const std::uint32_t generation = record.state.load(std::memory_order_relaxed) >> 8;
  record.state.store(format::StateWord(BlockState::kDead, generation), std::memory_order_release);
  instants.Bury(id);
}

void Ledger::Impl::Revive(Undoable& dead) {
  BlockRecord& old = blocks.At(dead.id);
  // If the dead record was kept for an instant, it would show the block twice: the sweep takes a
  // record that is not kDead.
  const bool kept = old.birth_time == dead.birth_time &&
                    format::StateOf(old.state.load(std::memory_order_relaxed)) == BlockState::kDead;
  if (kept)
    old.state.store(
        format::StateWord(BlockState::kFree, old.state.load(std::memory_order_relaxed) >> 8),
        std::memory_order_release);
  const RecordId id = blocks.Take();
  const BlockRecord& copy = *dead.Copy();
  if (id == RecordId::kNone) {
    header().dropped.blocks.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  BlockRecord& record = blocks.At(id);
  const std::uint32_t generation = (record.state.load(std::memory_order_relaxed) >> 8) + 1;
  record.state.exchange(format::StateWord(BlockState::kFree, generation),
                        std::memory_order_acq_rel);
  std::memcpy(static_cast<void*>(&record), dead.copy, offsetof(BlockRecord, state));
  record.free_time.store(0, std::memory_order_relaxed);
  record.state.store(format::StateWord(BlockState::kLive, generation), std::memory_order_release);
  blocks.Insert(id);
  totals.Undied(SiteId(copy.site), Bytes(copy.block_bytes));
  if (CountsAsLive(copy))
    ChangeLive(DeviceId(copy.device), static_cast<std::int64_t>(copy.block_bytes));
  dead.id = RecordId::kNone;
}

RecordId Ledger::Born(const Birth& birth) {
  if (!is_open()) return RecordId::kNone;
  const Locked lock(impl_->mutex);
  return impl_->Born(birth);
}

Death Ledger::Died(Heap heap, Address address) {
  if (!is_open()) return {};
  const Locked lock(impl_->mutex);
  impl_->instants.Sweep();
  const RecordId id = impl_->blocks.Remove(heap, address);
  if (id == RecordId::kNone) {
    impl_->header().dropped.unknown_frees.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  const BlockRecord& record = impl_->blocks.At(id);
  const Death death{true, Bytes(record.block_bytes), DeviceId(record.device), SiteId(record.site)};
  impl_->Remember(id);
  impl_->Kill(id, impl_->Now());
  return death;
}

void Ledger::Undo(Heap heap, Address address) {
  if (!is_open()) return;
  const Locked lock(impl_->mutex);
  for (int back = 1; back <= kUndoable; ++back) {
    Impl::Undoable& dead = impl_->undoable[(impl_->next_undoable + kUndoable - back) % kUndoable];
    if (dead.id == RecordId::kNone || dead.heap != heap || dead.address != Value(address)) continue;
    impl_->Revive(dead);
    return;
  }
}

void Ledger::ServeAsSegment(Heap heap, Address address, Heap user) {
  if (!is_open()) return;
  const Locked lock(impl_->mutex);
  const RecordId id = impl_->blocks.Find(heap, address);
  if (id == RecordId::kNone) return;
  BlockRecord& record = impl_->blocks.At(id);
  const std::uint8_t flags = record.flags.load(std::memory_order_relaxed);
  if ((flags & format::kServedAsSegment) != 0) return;
  if (CountsAsLive(record))
    impl_->ChangeLive(DeviceId(record.device), -static_cast<std::int64_t>(record.block_bytes));
  record.segment_heap = static_cast<std::uint8_t>(user);
  record.flags.store(
      static_cast<std::uint8_t>((flags & ~format::kExpectSegment) | format::kServedAsSegment),
      std::memory_order_release);
}

// ---------------------------------------------------------------- steps, instants, marks

bool Ledger::Impl::Tick(Signal signal) {
  const std::uint64_t now = Now();
  const StepClock::Effect effect = clock_of_steps.Tick(signal, now);
  if (effect == StepClock::Effect::kNone) return false;
  const std::uint64_t step = clock_of_steps.steps();
  if (effect == StepClock::Effect::kClockChanged)
    AddMark(format::MarkKind::kClockChanged, now, static_cast<std::uint64_t>(signal), 0, 255);
  instants.Keep({.kind = InstantKind::kStepEnd, .requested = {}}, Nanoseconds(now), step);
  return true;
}

// One window per max(64 MiB, peak live) of bytes allocated; a tick before the birth that completes
// it.
void Ledger::Impl::ByteClock(Bytes bytes) {
  window_bytes += bytes.count();
  if (window_bytes < std::max(kSmallestWindow.count(), peak_total)) return;
  window_bytes = 0;
  Tick(Signal::k_bytes);
}

bool Ledger::Tick(Signal signal) {
  if (!is_open()) return false;
  const Locked lock(impl_->mutex);
  return impl_->Tick(signal);
}

std::uint64_t Ledger::steps() const {
  return impl_ == nullptr ? 0 : impl_->header().steps.load(std::memory_order_relaxed);
}

void Ledger::Impl::AddMark(format::MarkKind kind, std::uint64_t now, std::uint64_t value,
                           std::uint32_t name, std::uint8_t device) {
  constexpr std::uint64_t kRecord = sizeof(format::MarkRecord);
  const bool full =
      mark_chunk == nullptr || mark_chunk->committed.load(std::memory_order_relaxed) + kRecord >
                                   Chunks::PayloadBytes(mark_chunk).count();
  if (marks < kMostMarks && full)
    mark_chunk = chunks.Append(format::ChunkType::kMark, kRecord,
                               4_KiB - Bytes(sizeof(format::ChunkHeader)));
  if (marks >= kMostMarks || mark_chunk == nullptr) {
    header().dropped.marks.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t used = mark_chunk->committed.load(std::memory_order_relaxed);
  *reinterpret_cast<format::MarkRecord*>(Chunks::Payload(mark_chunk) + used) = {
      now, clock_of_steps.steps(), value, name, kind, device, 0};
  mark_chunk->committed.store(used + kRecord, std::memory_order_release);
  ++marks;
}

void Ledger::Mark(std::string_view name) {
  if (!is_open()) return;
  {
    const Locked lock(impl_->mutex);
    const std::uint64_t now = impl_->Now();
    const std::uint32_t id = impl_->Intern(DictionaryKind::kString, TextPart(name.substr(0, 200)));
    impl_->AddMark(format::MarkKind::kUser, now, 0, id, 255);
    if (!impl_->instants.Keep({.kind = InstantKind::kMark, .name = id, .requested = {}},
                              Nanoseconds(now), impl_->clock_of_steps.steps()))
      impl_->header().dropped.instants.fetch_add(1, std::memory_order_relaxed);
  }
  if (impl_->file.storage() == format::Storage::kPrivate) Checkpoint();
}

void Ledger::OutOfMemory(DeviceId device, Bytes requested) {
  if (!is_open()) return;
  const auto index = static_cast<std::uint8_t>(std::min(Value(device), 255u));
  const Locked lock(impl_->mutex);
  const std::uint64_t now = impl_->Now();
  impl_->AddMark(format::MarkKind::kOutOfMemory, now, requested.count(), 0, index);
  const InstantKind kind = impl_->seen_oom ? InstantKind::kLastOom : InstantKind::kFirstOom;
  impl_->seen_oom = true;
  impl_->instants.Keep({.kind = kind, .device = index, .requested = requested}, Nanoseconds(now),
                       impl_->clock_of_steps.steps());
}

void Ledger::UsedSample(DeviceId device, Bytes used, Bytes total) {
  if (!is_open() || Value(device) >= format::kMaxDevices) return;
  const Locked lock(impl_->mutex);
  format::DeviceHeader& figures = impl_->header().devices[Value(device)];
  figures.total_bytes = total.count();
  figures.used_bytes.store(used.count(), std::memory_order_relaxed);
  figures.last_sample_time.store(impl_->Now(), std::memory_order_release);
}

void Ledger::PoolSample(DeviceId device, Bytes reserved, Bytes used) {
  if (!is_open() || Value(device) >= format::kMaxDevices) return;
  const Locked lock(impl_->mutex);
  format::DeviceHeader& figures = impl_->header().devices[Value(device)];
  figures.pool_reserved_bytes.store(reserved.count(), std::memory_order_relaxed);
  figures.pool_used_bytes.store(used.count(), std::memory_order_relaxed);
}

void Ledger::DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                            std::string_view pci_bus_id) {
  if (!is_open() || Value(device) >= format::kMaxDevices) return;
  const Locked lock(impl_->mutex);
  format::DeviceHeader& figures = impl_->header().devices[Value(device)];
  std::copy(uuid.begin(), uuid.end(), figures.uuid);
  const std::size_t size = std::min(pci_bus_id.size(), sizeof figures.pci_bus_id - 1);
  std::copy_n(pci_bus_id.begin(), size, figures.pci_bus_id);
}

// ---------------------------------------------------------------- dictionary

std::uint32_t Ledger::InternString(std::string_view text) {
  if (!is_open()) return 0;
  const Locked lock(impl_->mutex);
  return impl_->Intern(DictionaryKind::kString, TextPart(text));
}

std::uint32_t Ledger::InternModule(std::string_view path, std::span<const std::uint8_t> build_id,
                                   std::uint64_t load_bias, std::uint64_t map_begin,
                                   std::uint64_t map_end) {
  if (!is_open()) return 0;
  const Locked lock(impl_->mutex);
  format::ModuleEntry entry{};
  entry.load_bias = load_bias;
  entry.map_begin = map_begin;
  entry.map_end = map_end;
  entry.path = impl_->Intern(DictionaryKind::kString, TextPart(path));
  entry.build_id_bytes =
      static_cast<std::uint8_t>(std::min(build_id.size(), sizeof entry.build_id));
  std::copy_n(build_id.begin(), entry.build_id_bytes, entry.build_id);
  return impl_->dictionary.Intern(DictionaryKind::kModule, PartOf(entry), {}, 0x3fffff);
}

std::uint32_t Ledger::InternCode(std::string_view file, std::string_view function,
                                 std::int32_t first_line, std::span<const std::uint8_t> linetable) {
  if (!is_open()) return 0;
  const Locked lock(impl_->mutex);
  format::CodeEntry entry{};
  entry.file = impl_->Intern(DictionaryKind::kString, TextPart(file));
  entry.function = impl_->Intern(DictionaryKind::kString, TextPart(function));
  entry.first_line = first_line;
  if (linetable.size() <= kLongestLineTable)
    entry.linetable_bytes = static_cast<std::uint32_t>(linetable.size());
  return impl_->dictionary.Intern(DictionaryKind::kCode, PartOf(entry),
                                  std::as_bytes(linetable.first(entry.linetable_bytes)),
                                  0x3fffffff);
}

SiteId Ledger::InternSite(Heap heap, std::uint32_t owner_module, std::uint32_t tags,
                          std::uint8_t flags, std::span<const std::uint64_t> frames) {
  if (!is_open()) return SiteId::kUnknown;
  const Locked lock(impl_->mutex);
  format::SiteEntry entry{};
  entry.heap = heap;
  entry.flags = flags;
  entry.frame_count = static_cast<std::uint16_t>(frames.size());
  entry.owner = owner_module;
  entry.tags = tags;
  std::uint32_t id = impl_->dictionary.Intern(DictionaryKind::kSite, PartOf(entry),
                                              std::as_bytes(frames), impl_->max_sites);
  if (id != 0) return SiteId(id);
  impl_->header().dropped.sites.fetch_add(1, std::memory_order_relaxed);
  entry.flags |= format::kSiteOverflow;
  entry.frame_count = frames.empty() ? 0 : 1;
  id = impl_->dictionary.Intern(DictionaryKind::kSite, PartOf(entry),
                                std::as_bytes(frames.first(entry.frame_count)),
                                impl_->max_sites + kOverflowSites);
  return SiteId(id);
}

// ---------------------------------------------------------------- facts

void Ledger::SetPython(std::uint32_t version_hex, format::PythonFrames state) {
  if (!is_open()) return;
  const Locked lock(impl_->mutex);
  impl_->header().python_version = version_hex;
  impl_->header().python_frames.store(state, std::memory_order_release);
  if (state == format::PythonFrames::kChecked || state == format::PythonFrames::kDiffer)
    impl_->AddMark(format::MarkKind::kPythonChecked, impl_->Now(),
                   static_cast<std::uint64_t>(state), 0, 255);
}

format::DoorCounters* Ledger::doors() {
  return impl_ == nullptr || impl_->Forked() ? nullptr : &impl_->header().doors;
}
format::DropCounters* Ledger::dropped() {
  return impl_ == nullptr || impl_->Forked() ? nullptr : &impl_->header().dropped;
}
const char* Ledger::file_path() const { return impl_ == nullptr ? "" : impl_->file.path(); }

}  // namespace cuheap
