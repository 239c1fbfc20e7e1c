#include "allocator/capture/native_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/capture/omitted_frames.h"
#include "tests/capture/reference_stack.h"

namespace cuheap::capture {
namespace {

[[gnu::noinline]] void Take(void* stacks) {
  TakeStacks(static_cast<Stacks*>(stacks));
  asm volatile("");  // no tail call
}

TEST(NativeStack, AgreesWithOtherUnwindersInPlainCode) {
  Stacks stacks;
  Take(&stacks);
  ExpectSameStacks(stacks);
}

TEST(NativeStack, GoesThroughCodeWithoutFramePointers) {
  Stacks stacks;
  CallWithoutFramePointer(Take, &stacks);
  ExpectSameStacks(stacks);
}

TEST(NativeStack, GoesThroughFramesOfDynamicSize) {
  for (const int bytes : {16, 1000, 70000}) {
    Stacks stacks;
    CallWithDynamicFrame(Take, &stacks, bytes);
    ExpectSameStacks(stacks);
  }
}

TEST(NativeStack, GoesThroughRealignedFrames) {
  Stacks stacks;
  CallWithAlignedFrame(Take, &stacks);
  ExpectSameStacks(stacks);
}

TEST(NativeStack, GoesThroughCallbacksOfTheCLibrary) {
  static Stacks stacks;
  int values[] = {3, 1, 2};
  std::qsort(values, std::size(values), sizeof values[0], [](const void* a, const void* b) {
    Take(&stacks);
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  ExpectSameStacks(stacks);
}

TEST(NativeStack, KeepsTheInnermostFramesOfDeepRecursion) {
  Stacks stacks;
  CallAtDepth(20000, Take, &stacks);
  EXPECT_EQ(stacks.ours.count, kMaxNativeFrames);
  ExpectSameStacks(stacks);
}

TEST(NativeStack, LeavesOutTheFramesItIsToldTo) {
  struct Both {
    std::vector<std::uint64_t> all, rest;
  } both;
  CallWithoutFramePointer(
      [](void* context) {
        auto* const out = static_cast<Both*>(context);
        std::uint64_t pcs[kMaxNativeFrames];
        int count = WalkNative(pcs, 0);
        out->all.assign(pcs, pcs + count);
        count = WalkNative(pcs, 2);
        out->rest.assign(pcs, pcs + count);
      },
      &both);
  ASSERT_GT(both.all.size(), 2u);
  both.all.erase(both.all.begin(), both.all.begin() + 2);
  EXPECT_EQ(both.all, both.rest);
}

TEST(NativeStack, WritesNoMoreThanThereIsRoomFor) {
  std::uint64_t pcs[3] = {0, 0, 42};
  EXPECT_EQ(WalkNative(std::span(pcs, 2), 0), 2);
  EXPECT_EQ(pcs[2], 42u);
  EXPECT_EQ(WalkNative(std::span(pcs, 0), 0), 0);
  EXPECT_EQ(WalkNative(pcs, 1000), 0);
}

TEST(NativeStack, SurvivesUnboundCallsThroughTheDynamicLinker) {
  void* const library = dlopen(CUHEAP_LAZY_IFUNC, RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  static Stacks stacks;
  Take(&stacks);  // backtrace() may load libgcc, which must not happen inside the binder
  stacks = {};
  *static_cast<int (**)(void*)>(dlsym(library, "lazy_callback")) = [](void*) {
    Take(&stacks);
    return 0;
  };
  EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "CallLazily"))(), 8);
  ExpectSameStacks(stacks);
  EXPECT_GE(stacks.ours.count, 6);
  dlclose(library);
}

Stacks signal_stacks;

void TakeInHandler(int) { Take(&signal_stacks); }

void InstallHandler(int flags) {
  struct sigaction action {};
  action.sa_handler = TakeInHandler;
  action.sa_flags = flags;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
}

void Raise(void*) { raise(SIGUSR1); }

TEST(NativeStack, GoesThroughASignalHandler) {
  InstallHandler(0);
  signal_stacks = {};
  CallWithoutFramePointer(Raise, nullptr);
  ExpectSameStacks(signal_stacks);
  EXPECT_GE(signal_stacks.ours.count, 5);
}

TEST(NativeStack, GoesFromASignalStackBackToTheInterruptedOne) {
  std::vector<char> room(256 << 10);
  stack_t alternative{}, old{};
  alternative.ss_sp = room.data();
  alternative.ss_size = room.size();
  ASSERT_EQ(sigaltstack(&alternative, &old), 0);
  InstallHandler(SA_ONSTACK);
  signal_stacks = {};
  CallWithoutFramePointer(Raise, nullptr);
  sigaltstack(&old, nullptr);
  ExpectSameStacks(signal_stacks);
  EXPECT_GE(signal_stacks.ours.count, 5);
}

TEST(NativeStack, WorksOnAThreadWithASmallStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  Stacks stacks;
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* context) -> void* {
                  CallWithoutFramePointer(Take, context);
                  return nullptr;
                },
                &stacks),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  ExpectSameStacks(stacks);
}

ucontext_t fiber_context, main_context;
Stacks fiber_stacks;

TEST(NativeStack, WorksOnAStackThatIsNoThreads) {
  constexpr std::size_t kSize = 256 << 10;
  void* const stack =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(stack, MAP_FAILED);
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = kSize;
  fiber_context.uc_link = &main_context;
  fiber_stacks = {};
  makecontext(
      &fiber_context, [] { CallWithoutFramePointer(Take, &fiber_stacks); }, 0);
  swapcontext(&main_context, &fiber_context);
  munmap(stack, kSize);
  EXPECT_GE(fiber_stacks.ours.count, 2);
  ExpectSame(fiber_stacks.ours, fiber_stacks.glibc, "glibc");
}

// Functions whose unwind rule lies: the frame address is taken from an rbp that holds nothing of
// the kind, or the return address is no code.
asm(R"(
  .text
  .type BrokenFrameBase, @function
BrokenFrameBase:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  movq %rdx, %rbp
  .cfi_def_cfa rbp, 16
  .cfi_offset rbp, -16
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  popq %rbp
  .cfi_def_cfa rsp, 8
  .cfi_restore rbp
  ret
  .cfi_endproc
  .size BrokenFrameBase, .-BrokenFrameBase
  .type BrokenReturn, @function
BrokenReturn:
  .cfi_startproc
  pushq %rdx
  pushq %rdx
  .cfi_def_cfa rsp, 16
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  addq $24, %rsp
  ret
  .cfi_endproc
  .size BrokenReturn, .-BrokenReturn
)");
extern "C" void BrokenFrameBase(Callback, void*, std::uint64_t rbp);
extern "C" void BrokenReturn(Callback, void*, std::uint64_t address);

// WalkNative alone: the other unwinders are not asked to survive this.
[[gnu::noinline]] void TakeOursOnly(void* stack) {
  TakeOurs(static_cast<Pcs*>(stack));
  asm volatile("");  // no tail call
}

TEST(NativeStack, AGarbageFrameBaseEndsTheWalk) {
  const std::uint64_t here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  for (const std::uint64_t base :
       {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0}, ~std::uint64_t{0} - 15,
        std::uint64_t{0x7fffffffffff0000}, std::uint64_t{1} << 63, here + (std::uint64_t{1} << 30),
        here + 3, here & ~std::uint64_t{0xfffff}}) {
    Pcs stack;
    BrokenFrameBase(TakeOursOnly, &stack, base);
    EXPECT_EQ(stack.count, 1) << std::hex << base;
  }
}

TEST(NativeStack, AGarbageReturnAddressEndsTheWalk) {
  for (const std::uint64_t address :
       {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{0x123456789abc}}) {
    Pcs stack;
    BrokenReturn(TakeOursOnly, &stack, address);
    EXPECT_EQ(stack.count, address == 0 ? 1 : 2) << std::hex << address;
  }
}

TEST(NativeStack, ThreadsFillTheRuleCacheTogether) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      Pcs first;
      for (int i = 0; i < 2000; ++i) {
        Pcs stack;
        CallAtDepth(t + 2, TakeOursOnly, &stack);
        if (i == 0) first = stack;
        // The frames inside the recursion; the loop's own call may stand at several places.
        if (stack.count != first.count || !std::equal(stack.pcs, stack.pcs + 2, first.pcs)) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace cuheap::capture
