// The life of a core: from the knobs to the open ledger, safe points, and the end.
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "allocator/base/report_line.h"
#include "allocator/frontend/destination.h"
#include "allocator/frontend/frontend.h"

namespace cuheap {
namespace {

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
                                                 &counters->entry_point_lookups};
  by_door[static_cast<std::size_t>(door)]->fetch_add(calls, std::memory_order_relaxed);
}

}  // namespace

void Frontend::Start(const char* const* environment) {
  if (IsPrivilegedProcess()) return;
  ReadConfig(environment, &config_);
  if (config_.quiet) SetReportLines(ReportLines::kOff);
  if (!config_.off) state_.store(State::kReady, std::memory_order_release);
}

void Frontend::Stop() {
  if (state_.load(std::memory_order_acquire) != State::kOpen || fork_guard_.InChild()) return;
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
  fork_guard_.Start();
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
  options.mode = config_.mode;
  options.redact_arguments = config_.redact == Redact::kArgs;
  return ledger_.Open(options, SystemClock());
}

void Frontend::TellPython() {
  ledger_.SetPython(sites_.python().version_hex(), FramesState(sites_.python().state()));
}

void Frontend::SafePoint() {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kOpen ? fork_guard_.InChild() : state != State::kReady) return;
  // Not waited for: a child may have been forked while another thread was here.
  if (!safe_point_mutex_.try_lock()) return;
  const std::lock_guard lock(safe_point_mutex_, std::adopt_lock);
  const LoadedObjects now = CountLoadedObjects();
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

}  // namespace cuheap
