#include "allocator/ledger/ledger.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "allocator/base/report_line.h"
#include "allocator/ledger/identity.h"
#include "allocator/ledger/ledger_state.h"

namespace cuheap {

using format::Storage;

namespace {

constexpr Bytes kSmallestLimit = 1_MiB;

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

void* Memory(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

[[gnu::hot]] Ledger::Impl::Section::Section(Impl* impl, Kind kind) {
  if (impl == nullptr || impl->fork_guard.InChild()) return;
  pthread_mutex_lock(&impl->mutex);
  if (!impl->closed.load(std::memory_order_relaxed)) {
    impl_ = impl;
    return;
  }
  if (kind == Kind::kEvent)
    impl->header().dropped.late_events.fetch_add(1, std::memory_order_relaxed);
  pthread_mutex_unlock(&impl->mutex);
}

[[gnu::hot]] Ledger::Impl::Section::~Section() {
  if (impl_ == nullptr) return;
  const bool dropped = impl_->births_dropped;
  pthread_mutex_unlock(&impl_->mutex);
  if (dropped) [[unlikely]]
    ReportLine(
        "the trace %s cannot grow (disk full or limit reached): further blocks are only counted",
        impl_->file.destination());
}

// ---------------------------------------------------------------- life

bool Ledger::Impl::Start(const LedgerOptions& options) {
  const Bytes limit = std::max(options.limit, kSmallestLimit);
  max_sites = options.max_sites;
  fork_guard.Start();
  if (!file.Create(options.destination, options.shared_folder, limit)) return false;
  auto* header = new (file.data()) format::FileHeader();
  WriteIdentity(*header, options, file, *clock);
  start_ns = header->monotonic_start_ns;
  header->mode = options.mode;
  events.Start(options.mode, limit);
  const Bytes state = limit - Events::Share(options.mode, limit);
  return blocks.Start(limit) && dictionary.Start() && totals.Start(max_sites + kOverflowSites) &&
         instants.Start(state);
}

bool Ledger::Open(const LedgerOptions& options, Clock& clock) {
  static_assert(std::is_trivially_destructible_v<Instants>);
  void* memory = Memory(sizeof(Impl));
  auto* impl = memory == nullptr ? nullptr : new (memory) Impl();
  if (impl != nullptr) impl->clock = &clock;
  if (impl == nullptr || !impl->Start(options)) {
    ReportLine("no place for the trace %s, nothing is recorded", options.destination);
    return false;
  }
  impl_ = impl;
  if (impl->file.storage() == Storage::kPrivate) Checkpoint();
  return true;
}

bool Ledger::is_open() const { return impl_ != nullptr && impl_->Works(); }

void Ledger::Close() {
  if (!is_open()) return;
  const Locked writing(impl_->writing);
  {
    const Impl::Section section(impl_, Impl::Section::Kind::kFact);
    if (!section) return;
    const std::uint64_t now = section->Now();
    section->Keep({.kind = format::InstantKind::kExit, .requested = {}}, now);
    section->header().close_time.store(now, std::memory_order_relaxed);
    section->header().clean_close.store(1, std::memory_order_release);
    section->closed.store(true);
  }
  SharedFile& file = impl_->file;
  if (!file.BringHome() && file.at_destination())
    ReportLine("cannot write %s; the trace stays in %s", file.destination(), file.path());
  const Locked lock(impl_->mutex);
  file.ReleaseAllButHeader();
}

void Ledger::Abandon() {
  if (impl_ == nullptr) return;
  impl_->closed.store(true);
  impl_->file.Forget();
  impl_ = nullptr;
}

// The file as it is at one moment. False when it is larger than `most`.
bool Ledger::Impl::Snapshot(Bytes most, std::byte* to, Bytes* size) {
  *size = file.size();
  if (*size > most) return false;
  for (std::uint64_t at = 0; at < format::kChunkUnit; at += sizeof(std::uint64_t)) {
    // Doors add to their counters in the header without the lock.
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(file.data() + at), __ATOMIC_RELAXED);
    std::memcpy(to + at, &word, sizeof word);
  }
  std::memcpy(to + format::kChunkUnit, file.data() + format::kChunkUnit,
              size->count() - format::kChunkUnit);
  return true;
}

void Ledger::Checkpoint() {
  if (!is_open() || impl_->file.storage() == Storage::kInPlace) return;
  const Locked writing(impl_->writing);
  constexpr Bytes kGrowthMeanwhile = 4_MiB;
  const Bytes most =
      Bytes(impl_->header().used_bytes.load(std::memory_order_acquire)) + kGrowthMeanwhile;
  auto* copy = static_cast<std::byte*>(Memory(most.count()));
  if (copy == nullptr) return;
  Bytes size;
  bool taken = false;
  {
    const Impl::Section section(impl_, Impl::Section::Kind::kFact);
    taken = section && section->Snapshot(most, copy, &size);
  }
  if (taken) {
    char path[kPathBytes + 16];
    const bool beside = impl_->file.storage() == Storage::kSharedMemory;
    std::snprintf(path, sizeof path, "%s%s", impl_->file.destination(),
                  beside ? ".checkpoint" : "");
    impl_->file.CopyTo(path, copy, size);
  }
  munmap(copy, most.count());
}

// ---------------------------------------------------------------- facts

void Ledger::SetPython(std::uint32_t version_hex, format::PythonFrames state) {
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  if (!section) return;
  section->header().python_version = version_hex;
  if (section->header().python_frames.exchange(state) == state) return;
  if (state == format::PythonFrames::kChecked || state == format::PythonFrames::kDiffer)
    section->AddMark(format::MarkKind::kPythonChecked, section->Now(),
                     static_cast<std::uint64_t>(state));
}

std::uint64_t Ledger::steps() const {
  return impl_ == nullptr ? 0 : impl_->header().steps.load(std::memory_order_relaxed);
}
format::DoorCounters* Ledger::doors() {
  return impl_ == nullptr || impl_->fork_guard.InChild() ? nullptr : &impl_->header().doors;
}
format::DropCounters* Ledger::dropped() {
  return impl_ == nullptr || impl_->fork_guard.InChild() ? nullptr : &impl_->header().dropped;
}
const char* Ledger::file_path() const { return impl_ == nullptr ? "" : impl_->file.path(); }

}  // namespace cuheap
