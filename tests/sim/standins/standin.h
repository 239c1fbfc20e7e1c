// What the hand-written stand-ins share. A stand-in remembers what it is told and writes every
// output that a host can see (handles, sizes, heuristics, status words); it computes nothing. Its
// types are its own: no header of the library is needed, opaque handles are void*, enumerations are
// int.
#pragma once

#include <dlfcn.h>

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

// Sets device words to zero in stream order: the status words that a solver leaves in device
// memory.
inline void ZeroDeviceWords(void* words, std::size_t count, Stream stream) {
  using Fill = int (*)(unsigned long long, unsigned int, std::size_t, Stream);
  static const auto fill = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<Fill>(driver == nullptr ? nullptr : dlsym(driver, "cuMemsetD32Async"));
  }();
  if (fill != nullptr && words != nullptr)
    fill(reinterpret_cast<unsigned long long>(words), 0, count, stream);
}

inline void SayOnce(bool* said, const char* what) {
  if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
    std::fprintf(stderr, "cuheap-sim: %s\n", what);
}

// Work space that a real library of this kind asks for in small problems.
inline constexpr std::size_t kWorkspaceBytes = 1 << 20;

}  // namespace cuheap::sim_standin
