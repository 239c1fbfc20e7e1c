#include "allocator/capture/stack_range.h"

#include <algorithm>

#include "allocator/capture/memory_probe.h"

extern "C" void* __libc_stack_end;  // NOLINT: glibc's name (ld.so, GLIBC_2.2.5)

namespace cuheap::capture {
namespace {

constexpr std::uintptr_t kWindow = 128 << 10;  // what a walk may need
constexpr std::uintptr_t kAskedAtOnce =
    512 << 10;  // what is asked for, so that a deeper call needs less
constexpr std::uintptr_t kForeignWindow = 64 << 10;
// Between a stack pointer and the top that belongs to it. Larger distances are two unrelated
// places.
constexpr std::uintptr_t kLargestStack = std::uintptr_t{1} << 32;

struct Known {
  StackRange range;
  std::uintptr_t top = 0;  // where the stack ends; 0 = nothing known yet
};

thread_local constinit Known known;

bool Suffices(const Known& k, std::uintptr_t sp) {
  return sp >= k.range.begin && sp < k.range.end &&
         (k.range.end == k.top || k.range.end - sp >= kWindow);
}

// Everything in [page of sp, end) can be read, where end is `top` or far enough.
bool Probe(std::uintptr_t sp, std::uintptr_t top, StackRange* range) {
  if (sp >= top || top - sp > kLargestStack) return false;
  const std::uintptr_t begin = sp & ~(kPage - 1);
  const std::uintptr_t end = std::min(top, begin + kAskedAtOnce);
  if (ReadableUpTo(begin, end) != end) return false;
  *range = {begin, end};
  return true;
}

// The thread went deeper since: only the pages between are new.
bool Deepen(std::uintptr_t sp, Known* k) {
  const std::uintptr_t begin = sp & ~(kPage - 1);
  if (k->top == 0 || sp >= k->range.begin || k->range.begin - begin > kAskedAtOnce) return false;
  if (ReadableUpTo(begin, k->range.begin) != k->range.begin) return false;
  k->range.begin = begin;
  return true;
}

}  // namespace

[[gnu::hot]] StackRange StackAround(std::uintptr_t sp) {
  if (Suffices(known, sp) || (Deepen(sp, &known) && Suffices(known, sp)))
    return {sp, known.range.end};
  const std::uintptr_t tops[] = {reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()),
                                 reinterpret_cast<std::uintptr_t>(__libc_stack_end)};
  for (const std::uintptr_t top : tops) {
    StackRange range;
    if (!Probe(sp, top, &range)) continue;
    known = {range, top};
    return {sp, range.end};
  }
  return {sp, ReadableUpTo(sp, (sp & ~(kPage - 1)) + kForeignWindow)};
}

}  // namespace cuheap::capture
