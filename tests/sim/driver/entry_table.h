// The driver's entry points: each ABI of each function, with the version of CUDA that brought it.
// Generated from the headers; sorted by name, then version.
#pragma once

#include <span>
#include <string_view>

namespace cuheap::sim {

struct EntryPoint {
  std::string_view name;  // base name
  int version;
  bool per_thread;  // the variant whose default stream is the thread's own
  std::string_view symbol;
  void* address;
};

std::span<const EntryPoint> EntryPoints();

}  // namespace cuheap::sim
