// What a thread remembers, so that its hits need no lock: which magazines it has for a stream, and
// for a heap. What was remembered under an older generation of the pool is not believed.
//
// Threads: each its own; ends with its thread, when the pools of the process are told.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/base/fold.h"
#include "allocator/driver/driver.h"
#include "allocator/pool/heap.h"
#include "allocator/pool/magazines.h"

namespace cuheap::pool {

class ThreadMemory {
 public:
  struct ByStream {
    std::uint64_t generation = 0;
    StreamHandle stream{};
    StreamFacts facts;
    DeviceId device{};
    HeapKey key;
    Magazines* magazines = nullptr;
  };
  struct ByHeap {
    std::uint64_t generation = 0;
    std::uint32_t heap = 0;
    DeviceId device{};
    Magazines* magazines = nullptr;
  };

  // Of one thread of the process, never used again.
  std::uint32_t id() const { return id_; }
  void set_id(std::uint32_t id) { id_ = id; }

  ByStream& OfStream(DeviceId device, StreamHandle stream) {
    // Handles are small numbers or addresses.
    const std::uint64_t mixed = Value(stream) ^ Value(stream) >> 7 ^ Value(device);
    return by_stream_[mixed % by_stream_.size()];
  }
  ByHeap& OfHeap(DeviceId device, std::uint32_t heap) {
    return by_heap_[(heap ^ Value(device) << 2) % by_heap_.size()];
  }

 private:
  std::array<ByStream, 8> by_stream_{};
  std::array<ByHeap, 8> by_heap_{};
  std::uint32_t id_ = 0;  // 0: the thread is new
};

// The first call of a thread: names it, and has its end told.
ThreadMemory& RegisterThread();

extern constinit thread_local ThreadMemory this_thread_memory;

// The calling thread's.
inline ThreadMemory& ThisThread() {
  ThreadMemory& memory = this_thread_memory;
  return memory.id() != 0 ? memory : RegisterThread();
}

// Whoever is told when threads end. At most 16 at a time; false: that many there are.
class ThreadEnds {
 public:
  virtual void ThreadEnded(std::uint32_t thread) = 0;

 protected:
  ~ThreadEnds() = default;
};
bool TellThreadEnds(ThreadEnds* listener);
void StopTelling(ThreadEnds* listener);

}  // namespace cuheap::pool
