#include "tests/sim/engine/call_gate.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/guard.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

std::atomic<int> gate_state{1};

namespace {

enum GateBits { kNotInitialised = 1, kForked = 2, kLogging = 4, kSeeded = 8 };

int log_file = -1;
thread_local constinit int per_thread_depth = 0;

void AfterForkInChild() {
  if ((gate_state & kNotInitialised) == 0) gate_state |= kForked;
}

// The log begins before cuInit, with the first call.
void OpenLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string& path = TheSettings().log;
    if (path.empty()) return;
    log_file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_file < 0) {
      std::fprintf(stderr, "cuheap-sim: CUHEAP_SIM_LOG: %s: %s\n", path.c_str(),
                   std::strerror(errno));
    } else {
      gate_state |= kLogging;
    }
  });
}

CUresult OpenMachine() {
  if (!TheSettings().valid) return CUDA_ERROR_INVALID_VALUE;
  if (TheSettings().devices == 0) return CUDA_ERROR_NO_DEVICE;
  if (!OpenControlBlock() || !OpenPhysicalMemory() || !OpenAddressSpace()) {
    return CUDA_ERROR_SYSTEM_NOT_READY;
  }
  pthread_atfork(nullptr, nullptr, AfterForkInChild);
  ReportForeignLibraries();
  if (TheSettings().clock.kind == ClockKind::kSeeded) gate_state |= kSeeded;
  gate_state &= ~kNotInitialised;
  return CUDA_SUCCESS;
}

}  // namespace

std::recursive_mutex& EngineMutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

CUresult Initialise() {
  // Before the lock: in a forked child it may belong to a thread that does not exist there.
  if ((gate_state & kForked) != 0) return CUDA_ERROR_NOT_INITIALIZED;
  const EngineLock lock;
  static CUresult result = OpenMachine();
  return result;
}

CUresult AskGate(bool needs_initialisation) {
  OpenLog();
  const int state = gate_state;
  if (state == kSeeded || state == (kSeeded | kLogging)) Drift();
  if (!needs_initialisation) return CUDA_SUCCESS;
  return (state & (kNotInitialised | kForked)) != 0 ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
}

void LogCall(const char* name, std::initializer_list<std::uint64_t> arguments, CUresult result) {
  if (log_file < 0) return;
  char line[512];
  const std::size_t room = sizeof(line);
  auto used = static_cast<std::size_t>(
      std::snprintf(line, room, "%d %ld %s(", getpid(), syscall(SYS_gettid), name));
  const char* separator = "";
  for (const std::uint64_t argument : arguments) {
    if (used + 24 > room) break;
    used += static_cast<std::size_t>(
        std::snprintf(line + used, room - used, "%s%#" PRIx64, separator, argument));
    separator = ", ";
  }
  if (used + 12 < room) {
    used += static_cast<std::size_t>(std::snprintf(line + used, room - used, ") = %d\n", result));
  }
  // A log that cannot be written must not change what the program sees.
  [[maybe_unused]] const ssize_t written = write(log_file, line, used);
}

PerThreadDefault::PerThreadDefault() { ++per_thread_depth; }
PerThreadDefault::~PerThreadDefault() { --per_thread_depth; }
bool DefaultIsPerThread() { return per_thread_depth > 0; }

CUresult NotSimulated(const char* name) {
  static auto& said = *new std::set<std::string>;
  const EngineLock lock;
  if (said.insert(name).second) std::fprintf(stderr, "cuheap-sim: %s is not simulated\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cuheap::sim
