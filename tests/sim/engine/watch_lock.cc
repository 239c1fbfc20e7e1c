#include "tests/sim/engine/watch_lock.h"

#include <pthread.h>

#include <mutex>

namespace cuheap::sim {
namespace {

constinit std::mutex mutex;

[[maybe_unused]] const int registered =
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });

}  // namespace

WatchLock::WatchLock() { mutex.lock(); }
WatchLock::~WatchLock() { mutex.unlock(); }

}  // namespace cuheap::sim
