// The step of every hash here: a multiplication to 128 bits whose halves are folded. For tables in
// memory and content of a few hundred bytes; no defence against an adversary.
#pragma once

#include <cstdint>

namespace cuheap {

inline std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace cuheap
