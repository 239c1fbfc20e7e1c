// Code that comes and goes under the walk.
#include <atomic>
#include <thread>

#include "tests/capture/reference_stack.h"

namespace cuheap::capture {
namespace {

using CallThrough = int (*)(int (*)(void*), void*);

[[gnu::noinline]] int Take(void* stacks) {
  TakeStacks(static_cast<Stacks*>(stacks));
  return 1;
}

struct Library {
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle, nullptr) << dlerror();
    call = reinterpret_cast<CallThrough>(dlsym(handle, "CallThrough"));
  }
  ~Library() { dlclose(handle); }
  void* handle;
  CallThrough call = nullptr;
};

TEST(NativeUnload, RulesOfAnUnloadedLibraryAreNotUsedForItsSuccessor) {
  int reused = 0;
  void* last = nullptr;
  for (int i = 0; i < 100; ++i) {
    const Library library(i % 2 == 0 ? CUHEAP_FRAMES_SMALL : CUHEAP_FRAMES_LARGE);
    Stacks stacks;
    library.call(Take, &stacks);
    // libunwind keeps rules of its own and is not the judge here.
    ExpectSame(stacks.ours, stacks.glibc, "glibc");
    EXPECT_GE(stacks.ours.count, 4);
    reused += reinterpret_cast<void*>(library.call) == last;
    last = reinterpret_cast<void*>(library.call);
  }
  EXPECT_GT(reused, 0) << "the loader never used an address again, so nothing was tested";
}

TEST(NativeUnload, WalksWhileAnotherThreadLoadsAndUnloads) {
  std::atomic<bool> stop{false};
  std::thread loader([&stop] {
    for (int i = 0; !stop.load(); ++i) {
      const Library library(i % 2 == 0 ? CUHEAP_FRAMES_SMALL : CUHEAP_FRAMES_LARGE);
      library.call([](void*) { return 0; }, nullptr);
    }
  });
  std::uint64_t expected[kMaxNativeFrames] = {};
  int count = -1;
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t pcs[kMaxNativeFrames] = {};
    const int got = WalkNative(pcs, 0);
    if (count < 0) {
      count = got;
      std::copy(std::begin(pcs), std::end(pcs), std::begin(expected));
    }
    ASSERT_EQ(got, count);
    ASSERT_TRUE(std::equal(std::begin(pcs), std::end(pcs), std::begin(expected)));
  }
  stop.store(true);
  loader.join();
}

}  // namespace
}  // namespace cuheap::capture
