// The lock of what watches calls: armed faults and the log in memory. Held for a look at a list,
// never while a driver function runs. fork waits for it, so that a child finds it free.
#pragma once

namespace cuheap::sim {

class WatchLock {
 public:
  WatchLock();
  ~WatchLock();
  WatchLock(const WatchLock&) = delete;
  WatchLock& operator=(const WatchLock&) = delete;
};

}  // namespace cuheap::sim
