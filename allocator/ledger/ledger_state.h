// The inside of class Ledger: its parts, and the one way in.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <string_view>

#include "allocator/base/fork_guard.h"
#include "allocator/ledger/block_table.h"
#include "allocator/ledger/chunks.h"
#include "allocator/ledger/dictionary.h"
#include "allocator/ledger/events.h"
#include "allocator/ledger/instants.h"
#include "allocator/ledger/ledger.h"
#include "allocator/ledger/live_sums.h"
#include "allocator/ledger/marks.h"
#include "allocator/ledger/recent_deaths.h"
#include "allocator/ledger/shared_file.h"
#include "allocator/ledger/site_totals.h"
#include "allocator/ledger/step_clock.h"

namespace cuheap {

struct Ledger::Impl {
  class Section;

  static constexpr std::uint32_t kOverflowSites = 2048;
  static constexpr std::uint8_t kNoDevice = 255;

  Impl()
      : chunks(file),
        blocks(chunks),
        instants(chunks, blocks),
        live(chunks, instants),
        dictionary(chunks),
        totals(chunks),
        step_clock(chunks),
        marks(chunks),
        events(chunks) {}

  // Parts that are read without the lock.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;  // of files at the destination; before mutex
  ForkGuard fork_guard;
  Clock* clock = nullptr;
  std::uint32_t max_sites = 0;
  std::atomic<bool> closed{false};

  // Guarded by mutex.
  SharedFile file;
  Chunks chunks;
  BlockTable blocks;
  Instants instants;
  LiveSums live;
  Dictionary dictionary;
  SiteTotalsTable totals;
  StepClock step_clock;
  Marks marks;
  Events events;
  RecentDeaths deaths;
  std::uint64_t start_ns = 0;  // the zero of all times
  std::uint64_t last_time = 0;
  std::uint64_t window_bytes = 0;  // allocated since the last tick of the byte clock
  bool seen_oom = false;
  bool births_dropped = false;

  format::FileHeader& header() { return *chunks.header(); }
  bool Works() { return !fork_guard.InChild() && !closed.load(std::memory_order_relaxed); }
  std::uint64_t steps() const { return step_clock.steps(); }

  // The present, later than all that was ever handed out.
  std::uint64_t Now() { return LaterThanAll(clock->MonotonicNs()); }
  // The same by a cheaper clock: in order with everything, but up to some milliseconds late.
  std::uint64_t AboutNow() { return LaterThanAll(clock->LateMonotonicNs()); }
  std::uint64_t LaterThanAll(std::uint64_t clock_ns) {
    last_time = std::max(clock_ns > start_ns ? clock_ns - start_ns : 0, last_time + 1);
    header().last_event_time.store(last_time, std::memory_order_relaxed);
    return last_time;
  }

  bool Start(const LedgerOptions& options);
  bool Keep(const Instants::What& what, std::uint64_t now) {
    return instants.Keep(what, Nanoseconds(now), steps());
  }
  void AddMark(format::MarkKind kind, std::uint64_t now, std::uint64_t value,
               std::uint32_t name = 0, std::uint8_t device = kNoDevice) {
    marks.Add({now, steps(), value, name, kind, device, 0});
  }
  bool Snapshot(Bytes most, std::byte* to, Bytes* size);

  // blocks
  RecordId Born(const Birth& birth);
  RecordId TakeRecord();
  void Fill(format::BlockRecord& record, const Birth& birth, std::uint64_t now);
  void CountBirth(const format::BlockRecord& record, std::uint64_t now);
  void DropBirth(const Birth& birth);
  void TellEvent(format::EventKind kind, const format::BlockRecord& record, std::uint64_t now);
  Death Died(format::Heap heap, Address address, Free free);
  void Kill(RecordId id, std::uint64_t now);
  void Revive(RecentDeath& death);
  std::uint16_t Thread();
  std::uint16_t Stream(DeviceId device, StreamHandle handle);

  // steps
  bool Tick(format::Signal signal);
  void ByteClock(const Birth& birth);

  std::uint32_t InternText(std::string_view text);
};

// The one way in: holds the one lock, for bounded work, unless the ledger does not work (closed, or
// this is a forked child, where another thread may have held the lock). Complaints are made after
// it, because standard error may block.
class Ledger::Impl::Section {
 public:
  enum class Kind { kFact, kEvent };  // an event that comes after the end is counted

  Section(Impl* impl, Kind kind);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  explicit operator bool() const { return impl_ != nullptr; }
  Impl* operator->() const { return impl_; }

 private:
  Impl* impl_ = nullptr;
};

}  // namespace cuheap
