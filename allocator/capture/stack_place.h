// Where a walk begins: the registers at one instruction of a function that is still running. x86-64
// only; elsewhere all are 0.
#pragma once

#include <cstdint>

namespace cuheap::capture {

struct StackPlace {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t rbp = 0;
  std::uint64_t rbx = 0;
};

// Of the function it is inlined into; to be used before that function returns.
[[gnu::always_inline]] inline StackPlace StackPlaceHere() {
  StackPlace here;
#if defined(__x86_64__)
  asm volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rsp, %1\n\t"
      "movq %%rbp, %2\n\t"
      "movq %%rbx, %3"
      : "=&r"(here.pc), "=&r"(here.sp), "=&r"(here.rbp), "=&r"(here.rbx));
#endif
  return here;
}

}  // namespace cuheap::capture
