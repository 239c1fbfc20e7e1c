// Remembers a value for a native stack, by the words that a walk over it rested on: where they all
// still stand, the walk would find the same frames, and its value is known at the price of
// comparing them. They lie side by side, where a walk goes from rule to rule all over memory.
//
// Laws
//   1. Find gives a value only when the place, the salt, the registers that mattered and every word
//   of the evidence are the same.
//   2. It reads inside the calling thread's stack only, and takes no lock.
//   3. Bounded: a new stack takes the place of an old one.
// Threads: Find from any thread. Keep and Forget: the caller serialises. REQUIRES: the owner calls
// Forget after code was unloaded; evidence says nothing about the code.
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/virtual_range.h"
#include "allocator/capture/stack_place.h"
#include "allocator/capture/walk_evidence.h"

namespace cuheap::capture {

class StackMemo {
 public:
  constexpr StackMemo() = default;

  // False when there is no memory: then nothing is remembered.
  bool Start();
  // `salt`: what else the value depends on. 0 = not remembered.
  std::uint64_t Find(const StackPlace& place, std::uint64_t salt) const;
  // REQUIRES: value != 0.
  void Keep(const StackPlace& place, std::uint64_t salt, const WalkEvidence& evidence,
            std::uint64_t value);
  void Forget();

 private:
  using Word = std::atomic<std::uint64_t>;
  struct alignas(64) Entry {
    std::atomic<std::uint32_t> version;  // odd while it is written
    std::atomic<std::uint16_t> count;    // of the words; 0 = nothing remembered
    std::atomic<std::uint16_t> highest;
    Word pc_and_needs;  // bit 63: needs rbp, bit 62: needs rbx
    Word sp;
    Word rbp;
    Word rbx;
    Word salt;
    Word value;
    Word words[WalkEvidence::kMostWords];
    std::atomic<std::uint16_t> places[WalkEvidence::kMostWords];
  };

  // The entries are filled one after the other, so that few pages hold all that a job needs.
  static constexpr std::uint64_t kEntries = 2048;
  static constexpr std::uint64_t kSets = 512;
  static constexpr std::uint64_t kWays = 4;
  using Number = std::atomic<std::uint16_t>;  // of an entry, from 1; 0 = none
  static constexpr std::uint64_t kNeedsRbp = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kNeedsRbx = std::uint64_t{1} << 62;

  static std::uint64_t SetOf(const StackPlace& place, std::uint64_t salt);
  Entry& EntryFor(Number* set);
  static bool Holds(const Entry& entry, const StackPlace& place, std::uint64_t salt);
  static bool SameWords(const Entry& entry, std::uint64_t sp);

  VirtualRange range_;
  Entry* entries_ = nullptr;
  Number sets_[kSets][kWays]{};
  std::uint16_t used_ = 0;
  std::uint64_t next_way_ = 0;
};

}  // namespace cuheap::capture
