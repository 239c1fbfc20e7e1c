#include "tests/sim/engine/call_gate.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/guard.h"
#include "tests/sim/engine/program_code.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/engine/shutdown.h"
#include "tests/sim/engine/watched_call.h"

namespace cuheap::sim {

std::atomic<int> gate_state{static_cast<int>(GateBit::kNotInitialised)};

namespace {

constinit std::atomic<int> not_initialised{1};

}  // namespace

std::atomic<int>* own_process = &not_initialised;

namespace {

thread_local constinit int per_thread_depth = 0;

// Kernels that cannot wipe leave raw clones unnoticed; fork is told by its handler too.
void KnowChildren() {
  void* page = mmap(nullptr, sizeof *own_process, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, sizeof *own_process, MADV_WIPEONFORK) != 0) return;
  own_process = new (page) std::atomic<int>(1);
}

bool InForkedChild() { return GateHas(GateBit::kForked) || own_process->load() == 0; }

void AfterForkInChild() {
  if (!GateHas(GateBit::kNotInitialised)) SetGate(GateBit::kForked, true);
}

CUresult OpenMachine() {
  BeginWatching();
  if (!TheSettings().valid) return CUDA_ERROR_INVALID_VALUE;
  if (TheSettings().devices == 0) return CUDA_ERROR_NO_DEVICE;
  if (!OpenControlBlock() || !OpenPhysicalMemory() || !OpenAddressSpace()) {
    return CUDA_ERROR_SYSTEM_NOT_READY;
  }
  pthread_atfork(nullptr, nullptr, AfterForkInChild);
  KnowChildren();
  ReportForeignLibraries();
  SetGate(GateBit::kSeeded, TheSettings().clock.kind == ClockKind::kSeeded);
  SetGate(GateBit::kNotInitialised, false);
  ShutDownAtExitIfAsked();
  return CUDA_SUCCESS;
}

}  // namespace

void SetGate(GateBit bit, bool on) {
  if (on) {
    gate_state |= static_cast<int>(bit);
  } else {
    gate_state &= ~static_cast<int>(bit);
  }
}

std::recursive_mutex& EngineMutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

CUresult Initialise() {
  // Before the lock: in a forked child it may belong to a thread that does not exist there.
  if (InForkedChild()) return CUDA_ERROR_NOT_INITIALIZED;
  const EngineLock lock;
  static CUresult result = OpenMachine();
  return result;
}

bool HasMachine() { return !GateHas(GateBit::kNotInitialised) && !InForkedChild(); }

CUresult AskGate(bool needs_initialisation) {
  if (GateHas(GateBit::kShutDown)) return CUDA_ERROR_DEINITIALIZED;
  if (!needs_initialisation) return CUDA_SUCCESS;
  if (!HasMachine()) return CUDA_ERROR_NOT_INITIALIZED;
  return InProgramCode() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
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
