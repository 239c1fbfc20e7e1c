// The one lock of the engine. Recursive, because a host function that runs inside a submitted
// operation may call back into the driver. Launches and event records outside captures do not take
// it.
#pragma once

#include <mutex>

namespace cuheap::sim {

std::recursive_mutex& EngineMutex();

class EngineLock {
 public:
  EngineLock() : guard_(EngineMutex()) {}

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

}  // namespace cuheap::sim
