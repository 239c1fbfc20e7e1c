// The part of the calling thread's stack that is safe to read, found without locks or allocation
// (pthread_getattr_np takes both).
//
// What bounds a stack from above: glibc keeps a thread's own block (its thread pointer) at the top
// of the stack it made or was given, and says where the main thread's stack begins
// (__libc_stack_end). Which of the two holds, and that nothing is missing in between, is learnt by
// asking for each page once; the answer is remembered per thread, since a stack stays as long as
// its thread. On any other stack (a signal's, a fiber's) the pages above are asked for at each walk
// and nothing is remembered.
#pragma once

#include <cstdint>

namespace cuheap::capture {

struct StackRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  // Whether the 8 bytes at `address` may be read.
  bool Holds(std::uintptr_t address) const { return address >= begin && address <= end - 8; }
};

// REQUIRES: `sp` is a stack pointer of the calling thread. The range holds `sp` and what is above
// it, at least 128 KiB unless the stack ends before (64 KiB on a foreign stack).
StackRange StackAround(std::uintptr_t sp);

}  // namespace cuheap::capture
