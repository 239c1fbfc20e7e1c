// The seeds of random tests: the given ones, and as many more as CUHEAP_SEEDS says (./dev test
// long).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace cuheap::testing {

inline std::vector<std::uint32_t> Seeds(std::vector<std::uint32_t> seeds) {
  const char* const more = std::getenv("CUHEAP_SEEDS");
  for (int i = 0; more != nullptr && i < std::atoi(more); ++i)
    seeds.push_back(10'000 + static_cast<std::uint32_t>(i));
  return seeds;
}

}  // namespace cuheap::testing
