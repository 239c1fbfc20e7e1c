// Which blocks of a slab are out: a bit for each. The lowest goes out first, so that slabs that
// are nearly empty become empty.
//
// Threads: none of its own; callers lock.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "allocator/core/size_classes.h"

namespace cuheap::core {

class Slab {
 public:
  Slab() = default;
  // REQUIRES: 1 <= blocks <= SizeClasses::kMostInSlab.
  explicit Slab(std::uint32_t blocks) : free_{Ones(blocks, 0), Ones(blocks, 1)} {}

  static constexpr std::uint32_t kNone = ~0u;

  // kNone: the slab is full.
  std::uint32_t Take() {
    for (std::uint32_t word = 0; word < free_.size(); ++word) {
      if (free_[word] == 0) continue;
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(free_[word]));
      free_[word] &= free_[word] - 1;
      return word * 64 + bit;
    }
    return kNone;
  }

  // False: it is not out, and nothing changed. REQUIRES: block < the number of blocks.
  [[nodiscard]] bool Give(std::uint32_t block) {
    if (!IsOut(block)) return false;
    free_[block / 64] |= std::uint64_t{1} << block % 64;
    return true;
  }

  bool IsOut(std::uint32_t block) const { return (free_[block / 64] >> block % 64 & 1) == 0; }
  std::uint32_t free_blocks() const {
    return static_cast<std::uint32_t>(std::popcount(free_[0]) + std::popcount(free_[1]));
  }

 private:
  static constexpr std::uint64_t Ones(std::uint32_t blocks, std::uint32_t word) {
    const std::uint32_t from = word * 64;
    if (blocks >= from + 64) return ~std::uint64_t{0};
    return blocks <= from ? 0 : (std::uint64_t{1} << (blocks - from)) - 1;
  }

  std::array<std::uint64_t, SizeClasses::kMostInSlab / 64> free_{};
};

}  // namespace cuheap::core
