// The walk at every single instruction: the processor's trap flag interrupts after each one, in
// prologues, PLT entries, the dynamic linker and the C library, where only exact unwind rules help.
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/capture/omitted_frames.h"
#include "tests/capture/reference_stack.h"

namespace cuheap::capture {
namespace {

constexpr int kKept = 16;

int steps = 0;
int different = 0;
std::uint64_t ours_kept[kMaxNativeFrames];
void* glibc_kept[kMaxNativeFrames + 8];
int ours_count = 0;
int glibc_count = 0;

// backtrace()'s own list: it itself is left out, then this handler, then as ours from there.
[[gnu::noinline]] void CompareHere() {
  std::uint64_t pcs[kKept];
  void* others[kKept + 2];
  const int count = WalkNative(pcs, 0);
  const int other = backtrace(others, kKept + 2) - 1;
  bool same = count == std::min(other, kKept);
  for (int i = 0; same && i < count; ++i)
    same = pcs[i] == reinterpret_cast<std::uint64_t>(others[i + 1]);
  ++steps;
  if (same || different++ > 0) return;
  ours_count = count;
  glibc_count = other;
  std::copy(pcs, pcs + count, ours_kept);
  std::copy(others + 1, others + 1 + other, glibc_kept);
}

void OnTrap(int, siginfo_t*, void*) {
  CompareHere();
  asm volatile("");
}

// Written with its own unwind rules, since every instruction of it is interrupted too.
asm(R"(
  .text
  .type SwapFlags, @function
SwapFlags:
  .cfi_startproc
  pushfq
  .cfi_adjust_cfa_offset 8
  xorq %rdi, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size SwapFlags, .-SwapFlags
)");
extern "C" void SwapFlags(std::uint64_t flags);
constexpr std::uint64_t kTrapFlag = 0x100;

int Compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

TEST(SingleStep, EveryInstructionUnwindsAsGlibcSaysItDoes) {
  void* warm[4];
  backtrace(warm, 4);  // loads libgcc
  struct sigaction action {
  }, old{};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGTRAP, &action, &old), 0);
  void* const library = dlopen(CUHEAP_LAZY_IFUNC, RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const auto call_lazily = reinterpret_cast<int (*)()>(dlsym(library, "CallLazily"));
  int values[] = {5, 3, 9, 1, 7, 2};
  char text[64];
  SwapFlags(kTrapFlag);
  std::qsort(values, std::size(values), sizeof values[0], Compare);
  std::snprintf(text, sizeof text, "%d of %s, %.3f", 12, "sorts", 1.5);
  call_lazily();
  CallWithAlignedFrame([](void*) {}, nullptr);
  CallWithDynamicFrame([](void*) {}, nullptr, 100);
  SwapFlags(kTrapFlag);
  sigaction(SIGTRAP, &old, nullptr);
  dlclose(library);
  RecordProperty("steps", steps);
  EXPECT_GT(steps, 1000);
  std::vector<std::uint64_t> ours(ours_kept, ours_kept + ours_count);
  std::vector<std::uint64_t> glibc;
  for (int i = 0; i < glibc_count; ++i)
    glibc.push_back(reinterpret_cast<std::uint64_t>(glibc_kept[i]));
  EXPECT_EQ(different, 0) << "of " << steps << "; the first: ours\n"
                          << Describe(ours) << "glibc\n"
                          << Describe(glibc);
}

}  // namespace
}  // namespace cuheap::capture
