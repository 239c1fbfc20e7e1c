// Every exported function of the driver, callable with arguments that mean nothing.
#pragma once

#include <cuda.h>

#include <functional>
#include <string>
#include <vector>

namespace cuheap::sim {

struct EveryEntry {
  std::string symbol;
  // All arguments 0.
  std::function<CUresult()> call_with_zeroes;
  // All numbers 0, all pointers to zeroed memory or to a function that does nothing, but the n-th
  // of the `pointers` null.
  std::size_t pointers = 0;
  std::function<CUresult(std::size_t)> call_with_one_null;
};

std::vector<EveryEntry> EveryEntries();

}  // namespace cuheap::sim
