// From addresses to numbers, for every unit of 64 KiB that somebody owns: two loads, no lock.
//
// Laws: 1. What Set told is found by every thread that was told of the address afterwards.
//       2. A table, once made, stays: readers need no protection from those who change it.
// Threads: Find from any, at any time. Set by one thread at a time, and a unit that is found is not
// changed before its owner gave it back.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"

namespace cuheap {

class RadixMap {
 public:
  static constexpr std::uint32_t kUnitLog2 = 16;
  static constexpr Bytes kUnit{std::uint64_t{1} << kUnitLog2};
  static constexpr std::uint32_t kAddressBits = 48;  // what x86-64 and Arm give to a process

  constexpr RadixMap() = default;
  RadixMap(const RadixMap&) = delete;
  RadixMap& operator=(const RadixMap&) = delete;

  // The units of [begin, begin + bytes) get `number`; 0 forgets them. False: addresses beyond
  // kAddressBits, or the kernel gives no memory; then nothing changed.
  // REQUIRES: begin is a multiple of kUnit, bytes > 0.
  [[nodiscard]] bool Set(Address begin, Bytes bytes, std::uint32_t number) {
    const std::uint64_t first = Value(begin) >> kUnitLog2;
    const std::uint64_t units = ((bytes.count() - 1) >> kUnitLog2) + 1;
    if (units > kUnits || first > kUnits - units) return false;
    for (std::uint64_t root = first >> kLeafLog2; root <= (first + units - 1) >> kLeafLog2; ++root)
      if (!MakeLeaf(root)) return false;
    for (std::uint64_t unit = first; unit < first + units; ++unit)
      roots_[unit >> kLeafLog2].load(std::memory_order_relaxed)[unit & kLeafMask].store(
          number, std::memory_order_release);
    return true;
  }

  // Gives the tables back; the map is as new. Nobody else uses it.
  void Release() {
    for (std::atomic<Entry*>& root : roots_)
      if (Entry* leaf = root.exchange(nullptr)) munmap(leaf, sizeof(Entry) << kLeafLog2);
  }

  // 0: nobody's.
  std::uint32_t Find(Address address) const {
    const std::uint64_t unit = Value(address) >> kUnitLog2;
    if (unit >= kUnits) return 0;
    const Entry* leaf = roots_[unit >> kLeafLog2].load(std::memory_order_acquire);
    return leaf == nullptr ? 0 : leaf[unit & kLeafMask].load(std::memory_order_acquire);
  }

 private:
  using Entry = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t kLeafLog2 = 16;
  static constexpr std::uint64_t kLeafMask = (std::uint64_t{1} << kLeafLog2) - 1;
  static constexpr std::uint64_t kUnits = std::uint64_t{1} << (kAddressBits - kUnitLog2);

  // Zero when new, and memory only where numbers are: mmap.
  bool MakeLeaf(std::uint64_t root) {
    if (roots_[root].load(std::memory_order_relaxed) != nullptr) return true;
    void* leaf = mmap(nullptr, sizeof(Entry) << kLeafLog2, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (leaf == MAP_FAILED) return false;
    roots_[root].store(static_cast<Entry*>(leaf), std::memory_order_release);
    return true;
  }

  std::atomic<Entry*> roots_[kUnits >> kLeafLog2]{};
};

}  // namespace cuheap
