#include "tests/sim/engine/turns.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

using std::chrono::steady_clock;
constexpr auto kLook = std::chrono::microseconds(50);
constexpr auto kPatience = std::chrono::milliseconds(200);

struct Caller {
  int place = 0;
  pid_t thread = 0;
  bool waiting = false;
  bool ended = false;
  std::atomic<bool> arriving{false};  // may be blocked on the lock of the turns only
};

struct Turns {
  std::mutex mutex;
  std::condition_variable chosen;
  std::vector<Caller*> callers;  // by place
  std::size_t expected = 0;
  const Caller* turn = nullptr;
  steady_clock::time_point since = steady_clock::now();  // that it is whose it is
  std::mt19937_64 chance{TheSettings().clock.seed};
};

Turns& TheTurns() {
  static auto& turns = *new Turns;
  return turns;
}

// Plain data, so that calls in late destructors of a thread find it.
thread_local constinit Caller me;

void Enlist(int place) {
  Turns& turns = TheTurns();
  const std::lock_guard<std::mutex> guard(turns.mutex);
  me.place = place >= 0 ? place : static_cast<int>(turns.callers.size());
  me.thread = static_cast<pid_t>(syscall(SYS_gettid));
  const auto at = std::upper_bound(turns.callers.begin(), turns.callers.end(), &me,
                                   [](auto* a, auto* b) { return a->place < b->place; });
  turns.callers.insert(at, &me);
  turns.expected = std::max(turns.expected, std::size_t{1});
}

void EndTurn(Turns& turns) {
  turns.turn = nullptr;
  turns.since = steady_clock::now();
}

void Leave() {
  Turns& turns = TheTurns();
  const std::lock_guard<std::mutex> guard(turns.mutex);
  std::erase(turns.callers, &me);
  turns.expected = std::min(turns.expected, turns.callers.size());
  me.ended = true;
  if (turns.turn == &me) EndTurn(turns);
  turns.chosen.notify_all();
}

void EnlistOnce(int place) {
  struct UntilTheThreadEnds {
    explicit UntilTheThreadEnds(int at) { Enlist(at); }
    ~UntilTheThreadEnds() { Leave(); }
  };
  static thread_local const UntilTheThreadEnds membership(place);
}

bool IsBlocked(pid_t thread) {
  char path[64];
  char stat[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;  // ended
  const ssize_t got = read(file, stat, sizeof stat - 1);
  close(file);
  stat[std::max<ssize_t>(got, 0)] = 0;
  const char* name_end = std::strrchr(stat, ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'S';
}

bool AllStandStill(const Turns& turns) {
  return turns.callers.size() >= turns.expected &&
         std::all_of(turns.callers.begin(), turns.callers.end(), [](const Caller* caller) {
           return caller->waiting || (!caller->arriving && IsBlocked(caller->thread));
         });
}

void Choose(Turns& turns) {
  std::vector<const Caller*> waiting;
  std::copy_if(turns.callers.begin(), turns.callers.end(), std::back_inserter(waiting),
               [](const Caller* caller) { return caller->waiting; });
  turns.turn = waiting[turns.chance() % waiting.size()];
  turns.since = steady_clock::now();
  turns.chosen.notify_all();
}

}  // namespace

void TakeTurn() {
  if (me.ended) return;
  EnlistOnce(-1);
  Turns& turns = TheTurns();
  me.arriving = true;
  std::unique_lock<std::mutex> guard(turns.mutex);
  me.arriving = false;
  if (turns.callers.size() == 1 && turns.expected <= 1) return;
  if (turns.turn == &me) EndTurn(turns);
  me.waiting = true;
  while (turns.turn != &me) {
    const bool late = steady_clock::now() > turns.since + kPatience;
    if (turns.turn == nullptr && (late || AllStandStill(turns))) {
      Choose(turns);
    } else if (turns.turn != nullptr && !turns.turn->waiting && !turns.turn->arriving &&
               (late || IsBlocked(turns.turn->thread))) {
      EndTurn(turns);
    } else {
      turns.chosen.wait_for(guard, kLook);
    }
  }
  me.waiting = false;
}

void ExpectThreads(std::size_t count) {
  Turns& turns = TheTurns();
  const std::lock_guard<std::mutex> guard(turns.mutex);
  turns.expected = count;
}

void NameThread(int place) { EnlistOnce(place); }

}  // namespace cuheap::sim
