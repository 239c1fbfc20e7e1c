// An amount of memory. Explicit in, explicit out: a count of pages, a class index and a size do not
// mix.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace cuheap {

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}

  constexpr std::uint64_t count() const { return count_; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }

  // The smallest multiple of `unit` (a power of two) that is not below this.
  // REQUIRES: the result fits in 64 bits.
  constexpr Bytes RoundedUpTo(Bytes unit) const {
    return Bytes((count_ + unit.count_ - 1) & ~(unit.count_ - 1));
  }

 private:
  std::uint64_t count_ = 0;
};

constexpr Bytes operator""_B(unsigned long long n) { return Bytes(n); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(n << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(n << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(n << 30); }

}  // namespace cuheap
