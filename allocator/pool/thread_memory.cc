#include "allocator/pool/thread_memory.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "allocator/base/mutex.h"

namespace cuheap::pool {
namespace {

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

constinit thread_local ThreadMemory this_thread_memory;

ThreadMemory& RegisterThread() {
  pthread_once(&key_once, [] { has_key = pthread_key_create(&key, TellAll) == 0; });
  this_thread_memory.set_id(last_id.fetch_add(1, std::memory_order_relaxed) + 1);
  if (has_key) pthread_setspecific(key, &this_thread_memory);
  return this_thread_memory;
}

bool TellThreadEnds(ThreadEnds* listener) { return Replace(nullptr, listener); }
void StopTelling(ThreadEnds* listener) { (void)Replace(listener, nullptr); }

}  // namespace cuheap::pool
