// What one thread keeps of one stream's small blocks: a magazine for each size class. Taking from
// it and giving to it is no lock and no driver call.
//
// A magazine belongs to whoever exchanged its count for kTaken, for a few instructions: its thread,
// or somebody who drains it. Nobody ever waits: who finds it taken goes another way.
//
//   counts[class]:  3 -> kTaken -> 2          items[class]:  | a | b | c | - |
//
// Laws: 1. Blocks in a magazine have the use kCached and count as out of their heap.
//       2. At most 128 KiB of a class are kept, but 4 blocks, and a budget in all.
// Threads: Pop and Push only from the owner; Drain from any.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "allocator/pool/heap.h"

namespace cuheap::pool {

struct CachedBlock {
  Address address{};
  BlockUse* use = nullptr;
};

// Where each class's blocks lie, and how large they are.
struct MagazineLayout {
  static constexpr std::uint32_t kMost = 32;  // blocks of a class

  std::array<std::uint32_t, kClasses + 1> offsets{};
  std::array<std::uint32_t, kClasses> sizes{};

  constexpr MagazineLayout() {
    constexpr std::uint64_t kMostBytes = 128 << 10;
    constexpr std::uint64_t kFewest = 4;
    for (std::uint32_t i = 0; i < kClasses; ++i) {
      const std::uint64_t size = kSizeClasses.SizeOf(core::SizeClass(i)).count();
      const auto most = std::clamp<std::uint64_t>(kMostBytes / size, kFewest, kMost);
      sizes[i] = static_cast<std::uint32_t>(size);
      offsets[i + 1] = offsets[i] + static_cast<std::uint32_t>(most);
    }
  }
};
inline constexpr MagazineLayout kMagazineLayout;

class Magazines {
 public:
  static constexpr std::uint32_t CapacityOf(std::uint32_t size_class) {
    return kMagazineLayout.offsets[size_class + 1] - kMagazineLayout.offsets[size_class];
  }

  Magazines(std::uint32_t heap, std::uint32_t owner) : heap_(heap), owner_(owner) {}

  std::uint32_t heap() const { return heap_; }
  std::uint32_t owner() const { return owner_.load(std::memory_order_acquire); }
  // 0: its thread is gone; another may take it over.
  void set_owner(std::uint32_t thread) { owner_.store(thread, std::memory_order_release); }

  // False: it is empty, or somebody drains it.
  bool Pop(std::uint32_t size_class, CachedBlock* block) {
    std::atomic<std::uint32_t>& count = counts_[size_class];
    const std::uint32_t kept = count.exchange(kTaken, std::memory_order_acquire);
    if (kept - 1 >= kTaken - 1) [[unlikely]] {  // 0 or kTaken
      if (kept == 0) count.store(0, std::memory_order_release);
      return false;
    }
    *block = items_[kMagazineLayout.offsets[size_class] + kept - 1];
    count.store(kept - 1, std::memory_order_release);
    Add(&popped_, kMagazineLayout.sizes[size_class]);
    return true;
  }

  // False: it is full, the budget is used up, or somebody drains it.
  bool Push(std::uint32_t size_class, const CachedBlock& block, Bytes budget) {
    std::atomic<std::uint32_t>& count = counts_[size_class];
    const std::uint32_t kept = count.exchange(kTaken, std::memory_order_acquire);
    if (kept == kTaken) [[unlikely]]
      return false;
    const bool fits = kept < CapacityOf(size_class) &&
                      bytes() + Bytes(kMagazineLayout.sizes[size_class]) <= budget;
    if (!fits) [[unlikely]] {
      count.store(kept, std::memory_order_release);
      return false;
    }
    items_[kMagazineLayout.offsets[size_class] + kept] = block;
    count.store(kept + 1, std::memory_order_release);
    Add(&pushed_, kMagazineLayout.sizes[size_class]);
    return true;
  }

  // Calls visit(const CachedBlock&) for at most `most` blocks of a class, which leave.
  template <class Visit>
  void Drain(std::uint32_t size_class, std::uint32_t most, Visit&& visit) {
    std::atomic<std::uint32_t>& count = counts_[size_class];
    if (count.load(std::memory_order_relaxed) == 0) return;
    const std::uint32_t kept = count.exchange(kTaken, std::memory_order_acquire);
    if (kept == kTaken) return;
    const std::uint32_t leaving = std::min(kept, most);
    for (std::uint32_t i = 0; i < leaving; ++i)
      visit(items_[kMagazineLayout.offsets[size_class] + i]);
    // The latest are the warmest: they stay, and move up.
    for (std::uint32_t i = leaving; i < kept; ++i)
      items_[kMagazineLayout.offsets[size_class] + i - leaving] =
          items_[kMagazineLayout.offsets[size_class] + i];
    count.store(kept - leaving, std::memory_order_release);
    drained_.fetch_add(std::uint64_t{leaving} * kMagazineLayout.sizes[size_class],
                       std::memory_order_relaxed);
  }
  template <class Visit>
  void DrainAll(Visit&& visit) {
    for (std::uint32_t size_class = 0; size_class < kClasses; ++size_class)
      Drain(size_class, MagazineLayout::kMost, visit);
  }

  // What is kept: exact when nobody works on it.
  Bytes bytes() const {
    return Bytes(pushed_.load(std::memory_order_relaxed) - popped_.load(std::memory_order_relaxed) -
                 drained_.load(std::memory_order_relaxed));
  }

  std::uint64_t blocks() const {
    std::uint64_t blocks = 0;
    for (const std::atomic<std::uint32_t>& count : counts_) {
      const std::uint32_t kept = count.load(std::memory_order_relaxed);
      if (kept != kTaken) blocks += kept;
    }
    return blocks;
  }

 private:
  static constexpr std::uint32_t kTaken = ~0u;

  // Only the owner adds: no exchange is needed.
  static void Add(std::atomic<std::uint64_t>* sum, std::uint64_t bytes) {
    sum->store(sum->load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  const std::uint32_t heap_;
  std::atomic<std::uint32_t> owner_;
  std::atomic<std::uint64_t> pushed_{0};   // bytes, by the owner
  std::atomic<std::uint64_t> popped_{0};   // by the owner
  std::atomic<std::uint64_t> drained_{0};  // by whoever drains
  std::array<std::atomic<std::uint32_t>, kClasses> counts_{};
  std::array<CachedBlock, kMagazineLayout.offsets[kClasses]> items_;
};

}  // namespace cuheap::pool
