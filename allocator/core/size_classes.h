// The sizes that small blocks have, and how many blocks of a class lie together in a slab. All by
// arithmetic from four numbers.
//
// Steps of one granule up to 2^steps_log2 granules, then 2^steps_log2 steps a doubling. A slab is
// one block of the best fit (best_fit.h), of whole slab units and aligned to them, so that a unit
// of addresses belongs to one slab. Classes above `shared` have no slabs, each block stands alone:
// what they would share is worth less than the holes that one survivor keeps.
//
// Laws, which Validate() proves: 1. A class holds what maps to it, and the class below does not.
//                                2. Sizes grow with the class and are whole granules.
//                                3. Above 2^steps_log2 granules less than a 2^-steps_log2-th of a
//                                   block is rounding.
//                                4. The tail of a slab that no block fills is at most a 16th of it.
// Threads: any; constant after construction.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>

#include "allocator/base/bytes.h"

namespace cuheap::core {

enum class SizeClass : std::uint16_t {};

constexpr std::uint32_t Value(SizeClass size_class) {
  return static_cast<std::uint32_t>(size_class);
}

struct SizeClassRules {
  std::uint32_t granule_log2 = 9;  // 512 bytes: what cudaMalloc aligns to
  std::uint32_t steps_log2 = 3;
  Bytes largest = 1_MiB;     // a power of two
  Bytes slab_unit = 64_KiB;  // a power of two
  Bytes shared = 64_KiB;     // the largest blocks that share a slab; at most a slab unit
  std::uint32_t fewest_in_slab = 8;
};

class SizeClasses {
 public:
  static constexpr std::uint32_t kMostInSlab = 128;
  static constexpr std::uint64_t kMostTail = 16;  // a 16th of a slab

  constexpr SizeClasses() = default;
  constexpr explicit SizeClasses(const SizeClassRules& rules) : rules_(rules) {}

  constexpr const SizeClassRules& rules() const { return rules_; }
  constexpr std::uint32_t count() const { return Value(Of(rules_.largest)) + 1; }

  // REQUIRES: 0 < size <= largest.
  constexpr SizeClass Of(Bytes size) const {
    const std::uint64_t last =
        (size.count() - 1) >> rules_.granule_log2;  // granule of the last byte
    const std::uint32_t steps_log2 = rules_.steps_log2;
    if (last >> steps_log2 == 0) return SizeClass(last);
    const auto doubling = static_cast<std::uint32_t>(std::bit_width(last)) - 1 - steps_log2;
    return SizeClass((doubling << steps_log2) + (last >> doubling));
  }

  constexpr Bytes SizeOf(SizeClass size_class) const {
    const std::uint32_t index = Value(size_class);
    const std::uint32_t steps_log2 = rules_.steps_log2;
    if (index >> steps_log2 == 0) return Bytes((std::uint64_t{index} + 1) << rules_.granule_log2);
    const std::uint32_t doubling = (index >> steps_log2) - 1;
    const std::uint64_t step = (index & ((1u << steps_log2) - 1)) + (1u << steps_log2);
    return Bytes((step + 1) << (rules_.granule_log2 + doubling));
  }

  constexpr bool HasSlabs(SizeClass size_class) const {
    return SizeOf(size_class) <= rules_.shared;
  }

  // The shortest slab with enough blocks and a short tail. REQUIRES: HasSlabs.
  constexpr Bytes SlabOf(SizeClass size_class) const {
    const std::uint64_t size = SizeOf(size_class).count();
    const Bytes enough = Bytes(size * rules_.fewest_in_slab).RoundedUpTo(rules_.slab_unit);
    for (Bytes slab = enough;; slab += rules_.slab_unit)
      if (slab.count() % size * kMostTail <= slab.count()) return slab;
  }

  // At most kMostInSlab. REQUIRES: HasSlabs.
  constexpr std::uint32_t BlocksInSlab(SizeClass size_class) const {
    return static_cast<std::uint32_t>(SlabOf(size_class).count() / SizeOf(size_class).count());
  }

  // Nullptr, or the first law that does not hold.
  const char* Validate() const;
  // One line a class: size, step, share of rounding at worst, slab.
  void Print(std::FILE* out) const;

 private:
  SizeClassRules rules_;
};

}  // namespace cuheap::core
