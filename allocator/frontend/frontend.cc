#include "allocator/frontend/frontend.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "allocator/base/report_line.h"
#include "allocator/frontend/destination.h"

namespace cuheap {
namespace {

// A segment that is known to serve, as long as the index of blocks has not changed since.
struct ServedRange {
  static constexpr std::uint64_t kGrain = 2u << 20;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t changes = 0;
};

struct ThreadContext {
  enum class Kind : std::uint8_t { kUnknown, kPlain, kAutograd };
  ThreadSteps steps;
  ServedRange served[16];
  Kind kind = Kind::kUnknown;
};
constinit thread_local ThreadContext this_thread;

// Torch names the threads that run backward nodes; they carry no Python frames that would say so.
bool IsAutogradThread() {
  ThreadContext& thread = this_thread;
  if (thread.kind == ThreadContext::Kind::kUnknown) {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    thread.kind = std::string_view(name).starts_with("pt_autograd") ? ThreadContext::Kind::kAutograd
                                                                    : ThreadContext::Kind::kPlain;
  }
  return thread.kind == ThreadContext::Kind::kAutograd;
}

format::PythonFrames FramesState(capture::PythonState state) {
  switch (state) {
    case capture::PythonState::kNoPython:
      return format::PythonFrames::kNoPython;
    case capture::PythonState::kUnchecked:
      return format::PythonFrames::kUnchecked;
    case capture::PythonState::kChecked:
      return format::PythonFrames::kChecked;
    case capture::PythonState::kDiffer:
      return format::PythonFrames::kDiffer;
    case capture::PythonState::kUnsupported:
      return format::PythonFrames::kUnsupported;
    case capture::PythonState::kOff:
      return format::PythonFrames::kOff;
  }
  return format::PythonFrames::kUnsupported;
}

void AddCalls(format::DoorCounters* counters, Door door, std::uint64_t calls) {
  if (counters == nullptr) return;
  std::atomic<std::uint64_t>* const by_door[] = {&counters->runtime_calls, &counters->driver_calls,
                                                 &counters->torch_events,
                                                 &counters->entry_point_lookups};
  by_door[static_cast<std::size_t>(door)]->fetch_add(calls, std::memory_order_relaxed);
}

constinit Frontend frontend;

}  // namespace

Frontend& ProcessFrontend() { return frontend; }

// ---------------------------------------------------------------- life

void Frontend::Start(const char* const* environment) {
  if (ProcessLife::IsPrivileged()) return;
  ReadConfig(environment, &config_);
  if (config_.quiet) SetReportLines(ReportLines::kOff);
  if (!config_.off) state_.store(State::kReady, std::memory_order_release);
}

void Frontend::Stop() {
  if (state_.load(std::memory_order_acquire) != State::kOpen || life_.IsForkedChild()) return;
  state_.store(State::kClosed, std::memory_order_release);
  ledger_.Close();
}

bool Frontend::EnterOrOpen() {
  if (IsWatching()) [[likely]]
    return true;
  State state = State::kReady;
  if (!watching_.load(std::memory_order_relaxed)) return false;
  if (state_.compare_exchange_strong(state, State::kOpening, std::memory_order_acq_rel)) {
    const int saved = errno;
    Open();
    errno = saved;
  }
  // Opening is a millisecond's work of another thread; a child forked in the middle of it must not
  // wait for ever.
  constexpr int kPatience = 100'000;
  for (int i = 0; i < kPatience && state_.load(std::memory_order_acquire) == State::kOpening; ++i)
    sched_yield();
  return IsWatching();
}

void Frontend::Open() {
  life_.Protect();
  if (!OpenLedger() || !sites_.Start(config_.stacks, &ledger_)) {
    state_.store(State::kUnusable, std::memory_order_release);
    return;
  }
  TellPython();
  for (std::uint32_t door = 0; door < std::size(early_calls_); ++door)
    AddCalls(ledger_.doors(), static_cast<Door>(door),
             early_calls_[door].load(std::memory_order_relaxed));
  state_.store(State::kOpen, std::memory_order_release);
  if (config_.complaint[0] != 0) ReportLine("%s", config_.complaint);
}

bool Frontend::OpenLedger() {
  char host[256] = "";
  char folder[4096] = "/";
  gethostname(host, sizeof host - 1);
  if (getcwd(folder, sizeof folder) == nullptr) std::strcpy(folder, "/");
  const ProcessFacts facts = {.program = program_invocation_short_name,
                              .host = host,
                              .folder = folder,
                              .pid = getpid(),
                              .rank = config_.rank};
  char destination[1024];
  if (!FillDestination(config_.out, facts, destination)) {
    ReportLine("not watching: the path of the trace is longer than %zu bytes", sizeof destination);
    return false;
  }
  char shared[sizeof config_.shm] = "";
  std::snprintf(shared, sizeof shared, "/dev/shm/cuheap-%u", getuid());
  LedgerOptions options;
  options.destination = destination;
  options.shared_folder = config_.shm[0] != 0 ? config_.shm : shared;
  options.limit = config_.limit;
  options.max_sites = static_cast<std::uint32_t>(config_.sites.count());
  options.run_id = config_.run_id;
  options.rank = config_.rank;
  options.world_size = config_.world_size;
  options.options_text = config_.changed;
  options.stacks = config_.stacks;
  options.redact_arguments = config_.redact == Redact::kArgs;
  return ledger_.Open(options, SystemClock());
}

void Frontend::TellPython() {
  ledger_.SetPython(sites_.python().version_hex(), FramesState(sites_.python().state()));
}

void Frontend::SafePoint() {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kOpen ? life_.IsForkedChild() : state != State::kReady) return;
  // Not waited for: a child may have been forked while another thread was here.
  if (!safe_point_mutex_.try_lock()) return;
  const std::lock_guard lock(safe_point_mutex_, std::adopt_lock);
  const ProcessLife::LoadedObjects now = ProcessLife::CountLoadedObjects();
  if (now.loads == loaded_.loads && now.unloads == loaded_.unloads) return;
  if (now.unloads != loaded_.unloads) sites_.ForgetAddresses();
  loaded_ = now;
  capture::RefreshModules();
  sites_.python().Attach();
  sites_.python().ScheduleSelfCheck(
      [](capture::PythonState, void* self) { static_cast<Frontend*>(self)->TellPython(); }, this);
  if (state == State::kOpen) TellPython();
}

void Frontend::CountCall(Door door) {
  if (IsWatching())
    AddCalls(ledger_.doors(), door, 1);
  else
    early_calls_[static_cast<std::size_t>(door)].fetch_add(1, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- the program's own words

void Frontend::Step() {
  if (IsWatching()) ledger_.Tick(format::Signal::k_program);
}

void Frontend::Mark(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  if (IsWatching()) ledger_.Mark(name.substr(0, kLongest));
}

// ---------------------------------------------------------------- blocks

void Frontend::BlockBorn(const SeenBlock& block) {
  if (!EnterOrOpen()) return;
  Record(block, sites_.Capture(block.heap, block.caller));
}

bool Frontend::ExpectsSegment(const SeenBlock& block, const CallSite& site) const {
  const bool can_serve =
      block.heap == format::Heap::k_driver ||
      (block.heap == format::Heap::k_vmm && (block.flags & format::kUnmapped) == 0);
  return can_serve && site.from_torch_allocator && !config_.torch_caching_off;
}

void Frontend::Record(const SeenBlock& block, const CallSite& site) {
  Birth birth;
  birth.address = block.address;
  birth.block_bytes = block.block_bytes;
  birth.requested_bytes = block.requested_bytes;
  birth.site = site.site;
  birth.stream = block.stream;
  birth.device = block.device;
  birth.heap = block.heap;
  birth.flags = block.flags;
  TickSteps(site, block.heap, &birth.phase);
  if (ExpectsSegment(block, site)) {
    birth.flags |= format::kExpectSegment;
    birth.segment_heap = format::Heap::k_torch;
  }
  ledger_.Born(birth);
  if (block.heap == format::Heap::k_torch) {
    Serve(block);
  } else if ((block.flags & format::kUnmapped) == 0) {
    const std::uint64_t begin = Value(block.address);
    blocks_.Insert({.begin = begin,
                    .end = begin + block.block_bytes.count(),
                    .heap = block.heap,
                    .device = block.device,
                    .serves = false});
  }
}

// A step ends before the block that shows it is recorded.
void Frontend::TickSteps(const CallSite& site, format::Heap heap, format::Phase* phase) {
  if (site.facts != 0) {
    const StackFacts& facts = sites_.Facts(site.facts);
    *phase = facts.phase;
    FrameTicks ticks;
    if (steps_.Observe(&this_thread.steps, facts, &ticks))
      for (int i = 0; i < kFrameSignals; ++i)
        if (ticks[static_cast<std::size_t>(i)]) ledger_.Tick(SignalOfFrame(i));
  }
  if (heap == format::Heap::k_torch && *phase != format::Phase::kOptimizer && IsAutogradThread())
    *phase = format::Phase::kBackward;
}

// The blocks of the driver that this one lies in are segments: they are not themselves live.
void Frontend::Serve(const SeenBlock& block) {
  const std::uint64_t begin = Value(block.address);
  const std::uint64_t end = begin + block.block_bytes.count();
  // Most blocks come from where the last ones came from.
  ServedRange& served =
      this_thread.served[begin / ServedRange::kGrain % std::size(this_thread.served)];
  const std::uint64_t changes = blocks_.changes();
  if (served.changes == changes && served.begin <= begin && end <= served.end) return;
  BlockIndex::Block segment;
  while (blocks_.TakeUnmarked(begin, end, &segment))
    ledger_.ServeAsSegment(segment.heap, Address(segment.begin), block.heap);
  if (blocks_.Find(begin, &segment) && segment.serves)
    served = {segment.begin, segment.end, changes};
}

bool Frontend::BlockDied(format::Heap heap, Address address) {
  return IsWatching() && Forget(heap, address);
}

bool Frontend::Forget(format::Heap heap, Address address) {
  BlockIndex::Block block;
  if (heap != format::Heap::k_torch && blocks_.Erase(Value(address), &block)) heap = block.heap;
  return ledger_.Died(heap, address).known;
}

void Frontend::BlockSurvived(format::Heap heap, Address address) {
  if (!IsWatching()) return;
  BlockIndex::Block block;
  if (heap != format::Heap::k_torch) {
    blocks_.Restore(Value(address));
    if (blocks_.Find(Value(address), &block)) heap = block.heap;
  }
  ledger_.Undo(heap, address);
}

void Frontend::AllocationFailed(const SeenBlock& request) {
  if (!EnterOrOpen()) return;
  // Torch's allocator frees its cache and tries again; its own door says when it gives up.
  if (sites_.IsTorchAllocator(request.caller) && !config_.torch_caching_off) return;
  ledger_.OutOfMemory(request.device, request.requested_bytes);
}

void Frontend::OutOfMemory(DeviceId device, Bytes requested) {
  if (EnterOrOpen()) ledger_.OutOfMemory(device, requested);
}

void Frontend::DeviceReset(DeviceId device) {
  if (!IsWatching()) return;
  BlockIndex::Block block;
  while (blocks_.EraseAnyOf(device, &block)) ledger_.Died(block.heap, Address(block.begin));
}

// ---------------------------------------------------------------- physical memory

void Frontend::PhysicalCreated(std::uint64_t handle, const SeenBlock& memory) {
  if (!EnterOrOpen()) return;
  {
    const std::lock_guard lock(physical_mutex_);
    if (!physical_.Created(handle, memory.block_bytes.count(), memory.device)) {
      if (format::DropCounters* dropped = ledger_.dropped(); dropped != nullptr)
        dropped->blocks.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  SeenBlock block = memory;
  block.address = Address(handle);
  block.heap = format::Heap::k_vmm;
  block.flags |= format::kUnmapped;
  BlockBorn(block);
}

void Frontend::PhysicalImported(std::uint64_t handle, DeviceId device) {
  if (!EnterOrOpen()) return;
  const std::lock_guard lock(physical_mutex_);
  physical_.Imported(handle, device);
}

void Frontend::PhysicalRetained(std::uint64_t handle) {
  if (!IsWatching()) return;
  const std::lock_guard lock(physical_mutex_);
  physical_.Retained(handle);
}

void Frontend::PhysicalReleased(std::uint64_t handle) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.Released(handle);
  }
  Apply(change, {});
}

void Frontend::PhysicalReleaseFailed(std::uint64_t handle) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.ReleaseFailed(handle);
  }
  TakeBack(change);
}

void Frontend::PhysicalMapped(std::uint64_t handle, const SeenBlock& mapping) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.Mapped(handle, Value(mapping.address), mapping.block_bytes.count());
  }
  Apply(change, mapping);
}

void Frontend::PhysicalUnmapped(std::uint64_t address, Bytes bytes) {
  if (!IsWatching()) return;
  // The driver unmaps whole mappings only, and any number of them.
  for (std::uint64_t at = address; at < address + bytes.count();) {
    PhysicalMemory::Change change;
    std::uint64_t length = 0;
    {
      const std::lock_guard lock(physical_mutex_);
      change = physical_.Unmapped(at, &length);
    }
    if (length == 0) return;
    Apply(change, {});
    at += length;
  }
}

void Frontend::PhysicalUnmapFailed(std::uint64_t address, Bytes bytes) {
  if (!IsWatching()) return;
  for (std::uint64_t at = address; at < address + bytes.count();) {
    PhysicalMemory::Change change;
    std::uint64_t length = 0;
    {
      const std::lock_guard lock(physical_mutex_);
      change = physical_.UnmapFailed(at, &length);
    }
    if (length == 0) return;
    TakeBack(change);
    at += length;
  }
}

void Frontend::Apply(const PhysicalMemory::Change& change, const SeenBlock& origin) {
  if (change.died.valid) Forget(change.died.heap, Address(change.died.address));
  if (!change.born.valid) return;
  SeenBlock block = origin;
  block.heap = change.born.heap;
  block.address = Address(change.born.address);
  block.block_bytes = block.requested_bytes = Bytes(change.born.bytes);
  block.device = change.born.device;
  if (change.born.unmapped) block.flags |= format::kUnmapped;
  BlockBorn(block);
}

void Frontend::TakeBack(const PhysicalMemory::Change& change) {
  if (change.born.valid) Forget(change.born.heap, Address(change.born.address));
  if (change.died.valid) BlockSurvived(change.died.heap, Address(change.died.address));
}

// ---------------------------------------------------------------- the driver's figures

void Frontend::UsedSample(DeviceId device, Bytes used, Bytes total) {
  if (IsWatching()) ledger_.UsedSample(device, used, total);
}

void Frontend::PoolSample(DeviceId device, Bytes reserved, Bytes used) {
  if (IsWatching()) ledger_.PoolSample(device, reserved, used);
}

void Frontend::DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                              std::string_view pci_bus_id) {
  if (IsWatching()) ledger_.DeviceIdentity(device, uuid, pci_bus_id);
}

}  // namespace cuheap
