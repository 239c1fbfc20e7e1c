// Work that does not end before a test lets it: a host function that waits. What a test queues
// behind it is not done until then, on a GPU and under the manual clock.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/contract/simulation.h"

namespace cuheap::contract {

class Gate {
 public:
  // The eager clock would wait in the call that queues it, the seeded one in any call.
  static bool IsPossible() { return TheClock() == Clock::kManual || TheClock() == Clock::kDevice; }

  Gate() = default;
  ~Gate() {
    Open();
    if (opener_.joinable()) opener_.join();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // What to queue with cuLaunchHostFunc, and its argument.
  static void Wait(void* gate) {
    auto* const self = static_cast<Gate*>(gate);
    self->open_.wait(false);
    self->passed_.store(true);
  }
  void Open() {
    open_.store(true);
    open_.notify_all();
  }
  // From another thread, a while from now: for calls that may wait for the gate's stream.
  void OpenLater() {
    opener_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Open();
    });
  }
  bool passed() const { return passed_.load(); }

 private:
  std::atomic<bool> open_{false};
  std::atomic<bool> passed_{false};
  std::thread opener_;
};

}  // namespace cuheap::contract
