#include "tests/sim/engine/shared_event.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/sim/engine/control_block.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

struct HandleText {
  std::uint64_t identity;
  std::uint64_t serial;
  std::int32_t index;
  std::int32_t pid;
};
static_assert(sizeof(HandleText) <= sizeof(CUipcEventHandle));

SharedEventEntry& Entry(int index) { return TheControlBlock().events[index]; }

std::uint64_t MyBit() { return 1ULL << MySlot(); }

template <class Value>
std::atomic_ref<Value> Atomic(Value& value) {
  return std::atomic_ref<Value>(value);
}

// What this process holds of the entries. A lock of its own, inside which no other is taken: the
// last one to know an event may be a ticket, and those go with the queue lock held.
class Holds {
 public:
  void Add(int index) {
    const std::lock_guard guard(mutex_);
    if (counts_[index]++ == 0) Atomic(Entry(index).holders).fetch_or(MyBit());
  }
  void Remove(int index) {
    const std::lock_guard guard(mutex_);
    if (--counts_[index] == 0) Atomic(Entry(index).holders).fetch_and(~MyBit());
  }

 private:
  std::mutex mutex_;
  std::array<int, kMaxSharedEvents> counts_{};
};

// Never destroyed: threads may still submit work while the process ends.
Holds& TheHolds() {
  static auto& holds = *new Holds;
  return holds;
}

}  // namespace

SharedEvent::SharedEvent(int index, std::uint64_t serial) : index_(index), serial_(serial) {
  TheHolds().Add(index_);
}

SharedEvent::~SharedEvent() { TheHolds().Remove(index_); }

std::uint64_t SharedEvent::Record() {
  SharedEventEntry& entry = Entry(index_);
  Atomic(entry.recorder_pid).store(getpid());
  Atomic(entry.recorder_slot).store(MySlot());
  return Atomic(entry.recorded).fetch_add(1) + 1;
}

void SharedEvent::Reach(std::uint64_t record) {
  const auto reached = Atomic(Entry(index_).reached);
  std::uint64_t before = reached.load();
  while (before < record && !reached.compare_exchange_weak(before, record)) {
  }
}

std::uint64_t SharedEvent::Latest() const { return Atomic(Entry(index_).recorded).load(); }

bool SharedEvent::HasReached(std::uint64_t record) const {
  SharedEventEntry& entry = Entry(index_);
  if (Atomic(entry.reached).load() >= record) return true;
  return IsProcessGone(Atomic(entry.recorder_slot).load(), Atomic(entry.recorder_pid).load());
}

bool SharedEvent::WasRecordedHere() const {
  return Atomic(Entry(index_).recorder_pid).load() == getpid();
}

void SharedEvent::WaitUntil(std::uint64_t record) const {
  constexpr useconds_t kPause = 200;
  while (!HasReached(record)) usleep(kPause);
}

CUipcEventHandle SharedEvent::Handle() const {
  CUipcEventHandle handle{};
  const HandleText ticket{TheControlBlock().identity, serial_, index_, getpid()};
  std::memcpy(&handle, &ticket, sizeof(ticket));
  return handle;
}

SharedEventPtr NewSharedEvent() {
  const EngineLock lock;
  const ControlLock control;
  for (int index = 0; index < kMaxSharedEvents; ++index) {
    SharedEventEntry& entry = Entry(index);
    if (Atomic(entry.holders).load() != 0) continue;
    entry = SharedEventEntry{};
    entry.serial = TheControlBlock().next_serial++;
    return std::make_shared<SharedEvent>(index, entry.serial);
  }
  return nullptr;
}

CUresult OpenSharedEvent(const CUipcEventHandle& handle, SharedEventPtr* out) {
  HandleText ticket{};
  std::memcpy(&ticket, &handle, sizeof(ticket));
  const EngineLock lock;
  const ControlLock control;
  if (ticket.identity != TheControlBlock().identity) return CUDA_ERROR_INVALID_HANDLE;
  if (ticket.index < 0 || ticket.index >= kMaxSharedEvents) return CUDA_ERROR_INVALID_HANDLE;
  SharedEventEntry& entry = Entry(ticket.index);
  const bool is_held = Atomic(entry.holders).load() != 0;
  if (!is_held || entry.serial != ticket.serial) return CUDA_ERROR_INVALID_HANDLE;
  if (ticket.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  // All events of this process that show one entry share one hold of it.
  static auto& opened = *new std::map<std::uint64_t, std::weak_ptr<SharedEvent>>;
  *out = opened[ticket.serial].lock();
  if (*out == nullptr) *out = std::make_shared<SharedEvent>(ticket.index, ticket.serial);
  opened[ticket.serial] = *out;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
