#include "allocator/pool/thread_memory.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "allocator/base/mutex.h"

namespace cuheap::pool {
namespace {

constinit thread_local ThreadMemory this_thread;
constinit std::atomic<std::uint32_t> last_id{0};

constexpr std::size_t kMostListeners = 16;
constinit Mutex listeners_mutex;
constinit std::array<ThreadEnds*, kMostListeners> listeners{};

pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t key;
bool has_key = false;

void TellAll(void* thread) {
  const std::uint32_t id = static_cast<ThreadMemory*>(thread)->id();
  const std::lock_guard lock(listeners_mutex);
  for (ThreadEnds* listener : listeners)
    if (listener != nullptr) listener->ThreadEnded(id);
  // Its destructors may still allocate: as a new thread, whose magazines somebody drains.
  *static_cast<ThreadMemory*>(thread) = {};
}

void Register() {
  pthread_once(&key_once, [] { has_key = pthread_key_create(&key, TellAll) == 0; });
  this_thread.set_id(last_id.fetch_add(1, std::memory_order_relaxed) + 1);
  if (has_key) pthread_setspecific(key, &this_thread);
}

bool Replace(ThreadEnds* from, ThreadEnds* to) {
  const std::lock_guard lock(listeners_mutex);
  for (ThreadEnds*& listener : listeners) {
    if (listener != from) continue;
    listener = to;
    return true;
  }
  return false;
}

}  // namespace

ThreadMemory& ThisThread() {
  if (this_thread.id() == 0) [[unlikely]]
    Register();
  return this_thread;
}

bool TellThreadEnds(ThreadEnds* listener) { return Replace(nullptr, listener); }
void StopTelling(ThreadEnds* listener) { (void)Replace(listener, nullptr); }

}  // namespace cuheap::pool
