// Loaded objects as the dictionary knows them: from an address in code to the id of its module. The
// answer for a caller's address is cached, so that telling the owner library costs one load.
//
// Threads: Find from any thread, without a lock once an address is known; Intern and Forget under
// the lock of the interning side (SiteCapture).
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/virtual_range.h"
#include "allocator/capture/modules.h"
#include "allocator/ledger/ledger.h"

namespace cuheap {

struct Owner {
  capture::Module module;
  std::uint32_t id = 0;             // in the dictionary; 0 = unknown
  bool is_torch_allocator = false;  // libc10_cuda: what it asks the driver for are segments
};

class Owners {
 public:
  constexpr Owners() = default;

  // The place of the owner of a code address, or kMissing when Intern has to be asked.
  static constexpr std::uint32_t kMissing = ~0u;
  std::uint32_t Find(std::uint64_t pc) const {
    const std::uint64_t word = cache_[PlaceOf(pc)].load(std::memory_order_acquire);
    return word >> kPlaceBits == pc ? static_cast<std::uint32_t>(word & kPlaceMask) : kMissing;
  }
  // 0 = no module.
  std::uint32_t Intern(std::uint64_t pc, Ledger* ledger);
  // REQUIRES: a place that Find or Intern returned.
  const Owner& At(std::uint32_t place) const { return owners_[place]; }

  // An object was unloaded: another one may stand at its addresses soon.
  void Forget();

 private:
  static constexpr std::uint32_t kMost = 4096;
  static constexpr unsigned kPlaceBits = 16;
  static constexpr std::uint64_t kPlaceMask = (1u << kPlaceBits) - 1;
  static constexpr std::uint32_t kCached = 1024;
  static std::uint32_t PlaceOf(std::uint64_t pc) {
    return static_cast<std::uint32_t>((pc * 0x9e3779b97f4a7c15u) >> 54) % kCached;
  }

  std::uint32_t Add(const capture::Module& module, Ledger* ledger);

  std::atomic<std::uint64_t> cache_[kCached]{};  // pc << kPlaceBits | place
  Owner owners_[kMost]{};                        // 0 = unknown
  std::uint32_t count_ = 1;
  std::uint32_t first_valid_ = 1;  // those before belong to a time before an unloading
};

}  // namespace cuheap
