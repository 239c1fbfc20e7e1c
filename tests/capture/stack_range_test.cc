#include "allocator/capture/stack_range.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "allocator/capture/memory_probe.h"
#include "tests/capture/omitted_frames.h"

namespace cuheap::capture {
namespace {

std::uintptr_t Here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// The range lies inside what the C library calls this thread's stack.
void ExpectInsideThreadStack() {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* base = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  const StackRange range = StackAround(Here());
  EXPECT_GE(range.begin, reinterpret_cast<std::uintptr_t>(base));
  EXPECT_LE(range.end, reinterpret_cast<std::uintptr_t>(base) + size);
  EXPECT_TRUE(range.Holds(Here()));
}

TEST(StackRange, LiesInsideTheStackOfTheMainThread) { ExpectInsideThreadStack(); }

TEST(StackRange, LiesInsideTheStackOfAnyThread) { std::thread(ExpectInsideThreadStack).join(); }

TEST(StackRange, FollowsAStackThatGrowsAndShrinks) {
  for (const int depth : {10, 3000, 100, 9000, 1})
    CallAtDepth(
        depth,
        [](void*) {
          const StackRange range = StackAround(Here());
          EXPECT_TRUE(range.Holds(Here()));
          EXPECT_EQ(ReadableUpTo(range.begin, range.end), range.end);
        },
        nullptr);
}

TEST(StackRange, HoldsOnlyWholeWords) {
  const StackRange range{1000, 2000};
  EXPECT_TRUE(range.Holds(1000));
  EXPECT_TRUE(range.Holds(1992));
  EXPECT_FALSE(range.Holds(1993));
  EXPECT_FALSE(range.Holds(999));
}

}  // namespace
}  // namespace cuheap::capture
