#include "allocator/capture/stack_memo.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "allocator/capture/native_stack.h"
#include "tests/base/seeds.h"
#include "tests/capture/omitted_frames.h"

namespace cuheap::capture {
namespace {

using Frames = std::vector<std::uint64_t>;

// A memo whose values stand for the frames that were walked.
struct Memory {
  Memory() { EXPECT_TRUE(memo.Start()); }

  std::uint64_t NumberOf(const Frames& frames) {
    return numbers.emplace(frames, numbers.size() + 1).first->second;
  }

  StackMemo memo;
  std::uint64_t salt = 1;
  std::mutex mutex;  // guards what follows, and writing of the memo
  std::map<Frames, std::uint64_t> numbers;
};

struct Look {
  Memory* memory = nullptr;
  std::uint64_t found = 0;
  std::uint64_t walked = 0;
  bool complete = false;
};

// Looks the stack up, walks it, and keeps what the walk rested on.
[[gnu::noinline]] void Visit(void* context) {
  Look& look = *static_cast<Look*>(context);
  Memory& memory = *look.memory;
  const StackPlace place = StackPlaceHere();
  look.found = memory.memo.Find(place, memory.salt);
  std::uint64_t pcs[kMaxNativeFrames];
  WalkEvidence evidence;
  const int count = WalkNativeFrom(place, pcs, &evidence);
  look.complete = evidence.complete;
  const std::lock_guard lock(memory.mutex);
  look.walked = memory.NumberOf(Frames(pcs, pcs + count));
  if (look.found == 0) memory.memo.Keep(place, memory.salt, evidence, look.walked);
}

// The compiler would make several call sites of a short loop.
volatile int twice = 2;

TEST(StackMemo, KnowsAStackThatItHasSeen) {
  Memory memory;
  Look look{.memory = &memory};
  std::vector<std::uint64_t> found;
  for (int i = 0; i < twice; ++i) {
    Visit(&look);
    found.push_back(look.found);
  }
  EXPECT_EQ(found, (std::vector<std::uint64_t>{0, look.walked}));
}

TEST(StackMemo, KnowsNothingAboutAnotherSalt) {
  Memory memory;
  Look look{.memory = &memory};
  for (int i = 0; i < twice; ++i) {
    Visit(&look);
    EXPECT_EQ(look.found, 0u);
    ++memory.salt;
  }
}

TEST(StackMemo, ForgetsWhenItIsTold) {
  Memory memory;
  Look look{.memory = &memory};
  for (int i = 0; i < twice; ++i) {
    Visit(&look);
    EXPECT_EQ(look.found, 0u);
    memory.memo.Forget();
  }
}

TEST(StackMemo, WithoutMemoryNothingIsRemembered) {
  StackMemo memo;
  const StackPlace place = StackPlaceHere();
  WalkEvidence evidence;
  evidence.Add(place.sp, place.sp, 7);
  memo.Keep(place, 1, evidence, 1);
  EXPECT_EQ(memo.Find(place, 1), 0u);
  memo.Forget();
}

// Calls through frames of every kind, in an order that the seed decides.
struct Maze {
  std::mt19937 random;
  Look look;
  int depth = 0;
};

void Enter(void* maze);

[[gnu::noinline]] void ThroughPlain(void* maze) {
  Enter(maze);
  asm volatile("");  // no tail call
}

[[gnu::noinline]] void ThroughAnother(void* maze) {
  char room[96];
  asm volatile("" : : "r"(room) : "memory");  // a frame of another size
  Enter(maze);
  asm volatile("" : : "r"(room) : "memory");
}

[[gnu::noinline]] void Enter(void* context) {
  Maze& maze = *static_cast<Maze*>(context);
  if (maze.depth-- == 0) {
    Visit(&maze.look);
    return;
  }
  switch (maze.random() % 6) {
    case 0:
      return ThroughPlain(context);
    case 1:
      return ThroughAnother(context);
    case 2:
      return CallWithoutFramePointer(Enter, context);
    case 3:
      return CallWithAlignedFrame(Enter, context);
    case 4:
      return CallWithDynamicFrame(Enter, context, static_cast<int>(maze.random() % 3) * 64);
    default:
      return CallAtDepth(static_cast<int>(maze.random() % 3), Enter, context);
  }
}

// How many of the stacks the memo knew; what it said about them is asserted.
int Wander(Memory* memory, std::uint32_t seed, int rounds) {
  Maze maze{.random = std::mt19937(seed), .look = {.memory = memory}};
  int known = 0;
  for (int i = 0; i < rounds; ++i) {
    maze.depth = static_cast<int>(maze.random() % 4);
    Enter(&maze);
    if (maze.look.found == 0) continue;
    ++known;
    EXPECT_EQ(maze.look.found, maze.look.walked) << "seed " << seed << " round " << i;
  }
  return known;
}

TEST(StackMemo, IsNeverWrongAboutAnyStack) {
  for (const std::uint32_t seed : testing::Seeds({1, 2, 3})) {
    Memory memory;
    EXPECT_GT(Wander(&memory, seed, 5000), 2000);
    EXPECT_GT(memory.numbers.size(), 200u);
  }
}

TEST(StackMemo, ServesSeveralThreads) {
  Memory memory;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&memory, t] { EXPECT_GT(Wander(&memory, 10 + t, 3000), 500); });
  for (auto& thread : threads) thread.join();
}

Look signal_look;

// What a handler may do: no map, no lock.
[[gnu::noinline]] void VisitFromSignal(int) {
  StackMemo& memo = signal_look.memory->memo;
  const StackPlace place = StackPlaceHere();
  signal_look.found = memo.Find(place, 1);
  std::uint64_t pcs[kMaxNativeFrames];
  WalkEvidence evidence;
  signal_look.walked = static_cast<std::uint64_t>(WalkNativeFrom(place, pcs, &evidence));
  signal_look.complete = evidence.complete;
  memo.Keep(place, 1, evidence, 1);
}

TEST(StackMemo, AStackThatASignalInterruptedIsNotRemembered) {
  Memory memory;
  signal_look = {.memory = &memory};
  struct sigaction action {};
  action.sa_handler = VisitFromSignal;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  for (int i = 0; i < twice; ++i) {
    raise(SIGUSR1);
    EXPECT_EQ(signal_look.found, 0u);
    EXPECT_GT(signal_look.walked, 3u);
    EXPECT_FALSE(signal_look.complete);
  }
}

}  // namespace
}  // namespace cuheap::capture
