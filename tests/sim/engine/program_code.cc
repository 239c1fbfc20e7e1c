#include "tests/sim/engine/program_code.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/sim/engine/call_gate.h"

namespace cuheap::sim {
namespace {

thread_local constinit int depth = 0;

// Threads that are in such code: while there are any, calls take the long way through the gate.
class Callers {
 public:
  void Enter() {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (count_++ == 0) SetGate(GateBit::kProgramCode, true);
  }
  void Leave() {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (--count_ == 0) SetGate(GateBit::kProgramCode, false);
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
};

Callers& AllCallers() {
  static auto& callers = *new Callers;
  return callers;
}

class Scope {
 public:
  Scope() {
    if (depth++ == 0) AllCallers().Enter();
  }
  ~Scope() {
    if (--depth == 0) AllCallers().Leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

class OwnThread {
 public:
  OwnThread() {
    std::thread([this] { Work(); }).detach();
  }
  void Add(CUhostFn function, void* data) {
    const std::lock_guard<std::mutex> guard(mutex_);
    calls_.emplace_back(function, data);
    changed_.notify_one();
  }

 private:
  [[noreturn]] void Work() {
    while (true) {
      std::unique_lock<std::mutex> guard(mutex_);
      changed_.wait(guard, [this] { return !calls_.empty(); });
      const auto [function, data] = calls_.front();
      calls_.pop_front();
      guard.unlock();
      CallProgram(function, data);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<CUhostFn, void*>> calls_;
};

}  // namespace

void CallProgram(CUhostFn function, void* data) {
  const Scope scope;
  function(data);
}

void CallProgramLater(CUhostFn function, void* data) {
  static auto& thread = *new OwnThread;
  thread.Add(function, data);
}

bool InProgramCode() { return depth != 0; }

}  // namespace cuheap::sim
