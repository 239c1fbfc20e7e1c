// Reading memory that may not be there, or that a sanitizer calls nobody's.
//
// A stack is read across the frames of functions that know nothing of it, so the loads here are
// exempt from address and thread sanitizers; whoever calls them has made sure of the address.
#pragma once

#include <cstdint>

namespace cuheap::capture {

inline constexpr std::uintptr_t kPage = 4096;

// Whether the 8 bytes at `address` (rounded down to their alignment) can be read. One system call
// that has no effect; async-signal-safe, allowed by every seccomp profile that lets a C library
// live. errno is kept.
bool IsReadable(std::uintptr_t address);

// The first address in [begin, end) whose page cannot be read, else `end`.
std::uintptr_t ReadableUpTo(std::uintptr_t begin, std::uintptr_t end);

// REQUIRES: the memory is mapped.
template <typename T>
[[gnu::no_sanitize("address", "thread", "undefined")]] inline T Load(std::uintptr_t address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

}  // namespace cuheap::capture
