// What the hand-written stand-ins share. A stand-in remembers what it is told, writes every output
// that a host can see (handles, sizes, heuristics, status words), and enqueues its work
// (enqueue.h); it computes nothing, but what NCCL moves and sums. Its types are its own: no header
// of the library is needed, opaque handles are void*, enumerations are int.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#define CUHEAP_STANDIN extern "C" __attribute__((visibility("default")))

namespace cuheap::sim_standin {

using Handle = void*;
using Stream = void*;

// An object whose only property is that it exists, or that a library calls by its handle.
struct Object {
  Stream stream = nullptr;
  int mode = 0;
  int math = 0;
};

template <typename T = Object>
int Create(Handle* handle) {
  *handle = new T{};
  return 0;
}

template <typename T = Object>
int Destroy(Handle handle) {
  delete static_cast<T*>(handle);
  return 0;
}

inline void SetStream(Handle handle, Stream stream) {
  static_cast<Object*>(handle)->stream = stream;
}

inline void SayOnce(bool* said, const char* what) {
  if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
    std::fprintf(stderr, "cuheap-sim: %s\n", what);
}

// The work space of routines whose documentation gives no size and whose real one depends on the
// algorithm: enough for the descriptors and partial sums of a small problem, and not nothing, since
// programs take another way where none is needed.
inline constexpr std::size_t kWorkspaceBytes = 1 << 20;

}  // namespace cuheap::sim_standin
