// What a static CUDA runtime asks of cuGetProcAddress when it starts, in the order of the names.
// Derived from the headers: the newest ABI of each function, both ABIs of the few that it wants
// twice, each variant of per-thread default streams, and the empty name at version 0; not the
// functions that a runtime never asks for. That is more than the 440 questions of CUDA 13.0, whose
// list is not public.
#pragma once

#include <cstdint>
#include <vector>

namespace cuheap::sim {

struct Query {
  const char* name;
  int version;
  std::uint64_t flags;
};

std::vector<Query> QueriesOfRuntime();

}  // namespace cuheap::sim
