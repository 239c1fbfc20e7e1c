// Objects behind opaque handles. Memory is type-stable and never given back, so asking about any
// value (stale, random, null) is safe: Find answers nullptr unless the handle names a living
// object. As with a real driver, a handle's value may come back after its object was destroyed.
//
// New and Delete take the pool's own lock; Find takes none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace cuheap::sim {

template <class T>
class HandlePool {
 public:
  template <class... Args>
  T* New(Args&&... args) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (free_.empty()) Grow();
    Slot* slot = free_.back();
    free_.pop_back();
    T* object = new (slot->storage) T(std::forward<Args>(args)...);
    slot->alive.store(true, std::memory_order_release);
    return object;
  }

  void Delete(T* object) {
    Slot* slot = reinterpret_cast<Slot*>(object);
    slot->alive.store(false, std::memory_order_release);
    object->~T();
    const std::lock_guard<std::mutex> guard(mutex_);
    free_.push_back(slot);
  }

  T* Find(const void* handle) const {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    const std::size_t count = chunk_count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      const auto start = reinterpret_cast<std::uintptr_t>(chunks_[i]);
      if (address - start >= sizeof(Slot) * kSlotsPerChunk) continue;
      if ((address - start) % sizeof(Slot) != 0) return nullptr;
      Slot& slot = chunks_[i][(address - start) / sizeof(Slot)];
      if (!slot.alive.load(std::memory_order_acquire)) return nullptr;
      return std::launder(reinterpret_cast<T*>(slot.storage));
    }
    return nullptr;
  }

  // Calls `visit` with each living object. REQUIRES: nobody creates or destroys meanwhile.
  template <class Visit>
  void ForEach(Visit visit) {
    const std::size_t count = chunk_count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < kSlotsPerChunk; ++k) {
        Slot& slot = chunks_[i][k];
        if (slot.alive.load(std::memory_order_acquire)) {
          visit(std::launder(reinterpret_cast<T*>(slot.storage)));
        }
      }
    }
  }

 private:
  struct Slot {
    alignas(alignof(T) > 16 ? alignof(T) : 16) std::byte storage[sizeof(T)];
    std::atomic<bool> alive{false};
  };
  static constexpr std::size_t kSlotsPerChunk = 512;
  static constexpr std::size_t kMaxChunks = 4096;

  void Grow() {
    const std::size_t count = chunk_count_.load(std::memory_order_relaxed);
    if (count == kMaxChunks) throw std::bad_alloc();
    chunks_[count] = new Slot[kSlotsPerChunk];
    for (std::size_t k = kSlotsPerChunk; k > 0; --k) free_.push_back(&chunks_[count][k - 1]);
    chunk_count_.store(count + 1, std::memory_order_release);
  }

  std::array<Slot*, kMaxChunks> chunks_{};
  std::atomic<std::size_t> chunk_count_{0};
  std::mutex mutex_;
  std::vector<Slot*> free_;  // guarded by mutex_
};

}  // namespace cuheap::sim
