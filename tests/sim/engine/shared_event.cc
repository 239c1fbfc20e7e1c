#include "tests/sim/engine/shared_event.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>

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

}  // namespace

SharedEvent::~SharedEvent() {
  const EngineLock lock;
  const ControlLock control;
  SharedEventEntry& entry = Entry(index_);
  entry.holders &= ~MyBit();
  if (entry.holders == 0) entry.serial = 0;
}

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
    if (entry.serial != 0) continue;
    entry = SharedEventEntry{};
    entry.serial = TheControlBlock().next_serial++;
    entry.holders = MyBit();
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
  if (ticket.serial == 0 || entry.serial != ticket.serial) return CUDA_ERROR_INVALID_HANDLE;
  if (ticket.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  // All events of this process that show one entry share one hold of it.
  static auto& opened = *new std::map<std::uint64_t, std::weak_ptr<SharedEvent>>;
  *out = opened[ticket.serial].lock();
  if (*out == nullptr) *out = std::make_shared<SharedEvent>(ticket.index, ticket.serial);
  opened[ticket.serial] = *out;
  entry.holders |= MyBit();
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
