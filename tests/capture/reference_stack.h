// The same stack as seen by WalkNative and by two others: glibc's backtrace() and libunwind.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "allocator/capture/native_stack.h"

namespace cuheap::capture {

// Filled in signal handlers too, so nothing here allocates.
struct Pcs {
  static constexpr int kRoom = kMaxNativeFrames + 8;
  std::uint64_t pcs[kRoom];
  int count = 0;

  std::vector<std::uint64_t> List() const { return {pcs, pcs + count}; }
};

struct Stacks {
  Pcs ours;
  Pcs glibc;
  Pcs libunwind;
};

using Backtrace = int (*)(void**, int);

#if defined(__SANITIZE_THREAD__)
// libunwind ends its threads with a lock that ThreadSanitizer's runtime no longer serves then.
inline constexpr bool kLibunwindWorks = false;
#else
inline constexpr bool kLibunwindWorks = true;
#endif

// nullptr where libunwind.so.8 is not installed. RTLD_LOCAL: the program's own unwinder stays.
inline Backtrace LibunwindBacktrace() {
  if (!kLibunwindWorks) return nullptr;
  static const auto found = [] {
    void* const handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    return handle == nullptr ? nullptr
                             : reinterpret_cast<Backtrace>(dlsym(handle, "unw_backtrace"));
  }();
  return found;
}

// What the other one saw, from the frame where ours begins.
inline void TakeFrom(std::uint64_t first, Backtrace unwind, Pcs* stack) {
  void* all[Pcs::kRoom];
  const int count = unwind(all, Pcs::kRoom);
  int at = 0;
  while (at < count && reinterpret_cast<std::uint64_t>(all[at]) != first) ++at;
  stack->count = 0;
  for (; at < count; ++at) stack->pcs[stack->count++] = reinterpret_cast<std::uint64_t>(all[at]);
}

[[gnu::noinline]] inline void TakeOurs(Pcs* stack) {
  stack->count = WalkNative(std::span(stack->pcs, kMaxNativeFrames), 1);
}

// Stacks as seen from the caller of this function's caller.
[[gnu::noinline]] inline void TakeStacks(Stacks* stacks) {
  TakeOurs(&stacks->ours);
  const std::uint64_t first = stacks->ours.count > 0 ? stacks->ours.pcs[0] : 0;
  TakeFrom(first, backtrace, &stacks->glibc);
  if (LibunwindBacktrace() != nullptr) TakeFrom(first, LibunwindBacktrace(), &stacks->libunwind);
}

inline std::string Describe(const std::vector<std::uint64_t>& pcs) {
  std::string text;
  for (const std::uint64_t pc : pcs) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(pc - 1), &info);
    char line[600];
    std::snprintf(line, sizeof line, "  %#lx %s %s\n", pc, info.dli_sname ? info.dli_sname : "?",
                  info.dli_fname ? info.dli_fname : "?");
    text += line;
  }
  return text;
}

// Equal, as far as ours has room.
inline void ExpectSame(const Pcs& ours, const Pcs& other, const char* name) {
  std::vector<std::uint64_t> expected = other.List();
  if (expected.size() > static_cast<std::size_t>(kMaxNativeFrames))
    expected.resize(static_cast<std::size_t>(kMaxNativeFrames));
  if (!expected.empty() && expected.back() == 0) expected.pop_back();
  EXPECT_EQ(ours.List(), expected) << "ours\n"
                                   << Describe(ours.List()) << name << "\n"
                                   << Describe(expected);
}

inline void ExpectSameStacks(const Stacks& stacks) {
  EXPECT_GT(stacks.ours.count, 0);
  ExpectSame(stacks.ours, stacks.glibc, "glibc");
  if (LibunwindBacktrace() != nullptr) ExpectSame(stacks.ours, stacks.libunwind, "libunwind");
}

}  // namespace cuheap::capture
