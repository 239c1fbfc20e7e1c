// The ledger of a process: who holds which memory since when. Its memory is the trace file
// (format.h).
//
// Threads: every function may be called from any thread at any time after Open, also under a lock
// of the caller's, except where a line says otherwise. One internal lock, held for bounded work; no
// driver call, callback, malloc or loader lock under it. Before Open and after Close every call
// does nothing.
//
// Laws
//   1. A birth that returned a record is in the file: a reader that maps the file after a SIGKILL
//   finds it.
//   2. A record is reused only when no kept instant needs it (birth_time <= instant < free_time).
//   3. Times are handed out under the lock, strictly rising: no two events have the same.
//   4. Sum over sites = sum over live records.
//   5. When the file cannot grow, kept step ends are given up, then births are dropped and counted;
//   the job does not notice.
//   6. In a forked child every call does nothing and the parent's file is not touched.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "allocator/base/bytes.h"
#include "allocator/base/clock.h"
#include "allocator/base/ids.h"
#include "allocator/ledger/format.h"

namespace cuheap {

struct LedgerOptions {
  const char* destination = nullptr;  // absolute path, templates already filled in; taken names get
                                      // ".PID-START" (see process_name.h)
  const char* shared_folder =
      nullptr;  // where the file lives while the process runs; nullptr or unusable: in place
  Bytes limit = 256_MiB;
  std::uint32_t max_sites = 16384;
  const char* run_id = "";
  std::int32_t rank = -1;
  std::int32_t world_size = -1;
  const char* options_text = "";  // knobs that are not at their default
  format::StackMode stacks = format::StackMode::kAuto;
  format::Mode mode = format::Mode::kSummary;
  bool redact_arguments = false;
};

struct Birth {
  Address address{};
  Bytes block_bytes;
  Bytes requested_bytes;  // 0 where the heap does not see requests
  SiteId site{};
  StreamHandle stream{};
  DeviceId device{};
  format::Heap heap{};
  std::uint16_t arena = 0;
  format::Phase phase = format::Phase::kOther;
  std::uint8_t flags = 0;       // format::BlockFlags
  format::Heap segment_heap{};  // with kExpectSegment: who will place blocks inside
};

// A free that is final need not be remembered for Undo.
enum class Free : std::uint8_t { kMayFail, kFinal };

struct Death {
  bool known = false;
  Bytes block_bytes;
  DeviceId device{};
  SiteId site{};
};

class Ledger {
 public:
  constexpr Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Creates the file. False, with one ReportLine, when no storage works at all: then nothing is
  // ever recorded. REQUIRES: called once, before other threads use this object.
  bool Open(const LedgerOptions& options, Clock& clock);
  bool is_open() const;

  // Marks the instant kExit, sets clean_close, and brings the file to its destination. Later events
  // are counted as late.
  void Close();
  // For a forked child: forgets the file without touching it; pointers that doors() and dropped()
  // gave out lead nowhere then. REQUIRES: no other thread uses this object.
  void Abandon();
  // Writes a copy of the file beside its destination (kPrivate storage: the only way it gets there
  // before Close). The copy is of one moment: the lock is held while memory is copied, not while
  // the file is written. Not from under a lock of the host's.
  void Checkpoint();

  // ---- blocks
  // A hint: an event of that block comes soon. Fetches what it will need; no lock, no effect.
  void Expect(format::Heap heap, Address address) const;
  RecordId Born(const Birth& birth);
  // The block of `heap` that starts at `address` is gone. Unknown ones are counted.
  Death Died(format::Heap heap, Address address, Free free = Free::kMayFail);
  // A free that was announced failed: the record is as before Died (law 7 of design.md). REQUIRES:
  // the next event of that block.
  void Undo(format::Heap heap, Address address);
  // The live block of `heap` at `address` serves another heap as a segment. It no longer counts as
  // live. Idempotent.
  void ServeAsSegment(format::Heap heap, Address address, format::Heap user);

  // ---- the clock of the program
  // One tick of a signal at the present time: a step of the program ended. Ticks are recorded for
  // every signal; those of the leading clock end a step. Returns whether a step ended.
  bool Tick(format::Signal signal);
  std::uint64_t steps() const;

  // ---- instants and marks
  void Mark(std::string_view name);  // a kept instant named by the program, and a mark
  void OutOfMemory(DeviceId device, Bytes requested);
  void UsedSample(DeviceId device, Bytes used, Bytes total);
  void PoolSample(DeviceId device, Bytes reserved, Bytes used);
  void DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                      std::string_view pci_bus_id);

  // ---- dictionary: ids by content; 0 when there is no room (counted)
  std::uint32_t InternString(std::string_view text);
  std::uint32_t InternModule(std::string_view path, std::span<const std::uint8_t> build_id,
                             std::uint64_t load_bias, std::uint64_t map_begin,
                             std::uint64_t map_end);
  std::uint32_t InternCode(std::string_view file, std::string_view function,
                           std::int32_t first_line, std::span<const std::uint8_t> linetable);
  // `frames` in the encoding of format.h, innermost first. When the table is full: leaf and owner,
  // flagged kSiteOverflow.
  SiteId InternSite(format::Heap heap, std::uint32_t owner_module, std::uint32_t tags,
                    std::uint8_t flags, std::span<const std::uint64_t> frames);

  // ---- facts about the process, for the header
  void SetPython(std::uint32_t version_hex, format::PythonFrames state);
  format::DoorCounters* doors();  // nullptr before Open; doors add to them with relaxed atomics
  format::DropCounters* dropped();

  const char* file_path() const;  // where the file lives now

 private:
  struct Impl;
  Impl* impl_ = nullptr;
};

}  // namespace cuheap
