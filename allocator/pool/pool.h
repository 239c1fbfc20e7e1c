// A caching allocator of device memory for one process: stream-ordered blocks from pools, on all
// its devices.
//
// A block is its stream's: memory that was freed on it is used again there at once, elsewhere only
// when the stream is past the free. Small blocks come from the calling thread's magazines without a
// lock or a driver call.
//
// Laws: those of the parts (device_pool.h, heap.h, magazines.h, waiting.h), and
//       1. The caller's current context and device are as before.
//       2. After Stop, and in a forked child, no driver call is made: what is freed is taken, what
//       is
//          not at hand is refused with kGone.
// Threads: any, after Start.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "allocator/driver/life_driver.h"
#include "allocator/pool/device_pool.h"
#include "allocator/pool/thread_memory.h"

namespace cuheap::pool {

struct Request {
  Bytes bytes{};
  Bytes alignment = 512_B;  // a power of two
  DeviceId device{};
  StreamHandle stream{};
};

class Pool final : private ThreadEnds {
 public:
  constexpr Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Nothing is asked of the driver until a device is used.
  void Start(Driver* driver, const Options& options);

  // 512 bytes, or the alignment asked for, divide the address. kInvalid: no bytes, an alignment
  // that is no power of two or above 2 MiB, no such device, no such stream.
  Status Allocate(const Request& request, Address* address);
  // On the block's own stream. kForeign: nothing of this pool begins there. kNotLive: freed
  // already.
  Status Free(Address address);
  // On another stream, which is ordered behind all that uses the block.
  Status Free(Address address, StreamHandle stream);
  // The block is used on that stream, too: its free waits for what is submitted there until then.
  // The stream lives until the block is freed, or is retired.
  Status RecordUse(Address address, StreamHandle stream);
  // What a live block is. `bytes`: what may be used of it.
  Status Look(Address address, DeviceId* device, Bytes* bytes);

  // A stream is about to be destroyed.
  Status RetireStream(DeviceId device, StreamHandle stream);
  // What is allocated on the stream belongs to a graph's arena from now on, until End: the stream
  // captures. `*arena`: one that exists, or 0 for a new one, which is told.
  Status BeginGraph(DeviceId device, StreamHandle stream, ArenaId* arena);
  Status EndGraph(DeviceId device, ArenaId arena);
  // No graph uses the arena's memory any more.
  Status ReleaseGraph(DeviceId device, ArenaId arena);

  Status Empty(DeviceId device, std::span<Stay> stays, EmptyResult* result);
  Status AllowAccess(DeviceId device, DeviceId peer);
  Status Figures(DeviceId device, Statistics* figures);
  // The first of the figures, at the cost of a lock.
  Bytes Reserved(DeviceId device);
  Status Explain(DeviceId device, Bytes requested, Shortage* shortage);
  // The device was reset: its memory is gone.
  Status Forget(DeviceId device);
  // Called when a device is short, without a lock, before a request fails; it may free. Once,
  // before others use the pool.
  void SetPressure(void (*ask)(void* context, DeviceId device, Bytes bytes), void* context);

  // The process exits.
  void Stop();
  // Gives everything back, for a pool that ends while its process goes on. REQUIRES: nobody else
  // uses it.
  void Shutdown();

  // Nullptr, or the first law that does not hold. REQUIRES: nobody else uses it.
  const char* FirstBrokenLaw();

  static constexpr std::uint32_t kMostDevices = 64;

 private:
  void ThreadEnded(std::uint32_t thread) override;

  // What a hit does not need stays out of its way.
  Status Device(DeviceId device, DevicePool** pool);
  template <class Work>  // work(DevicePool&)
  Status On(DeviceId device, Work&& work);
  template <class Work>  // work(DevicePool&, const StreamFacts&)
  Status OnStream(DeviceId device, StreamHandle stream, Work&& work);
  void LookAgain();
  DevicePool& DeviceOf(const BlockRef& block) {
    return *devices_[Value(extents_[block.extent].device)].load(std::memory_order_acquire);
  }
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  [[gnu::always_inline]] Status Place(DeviceId device, StreamHandle stream,
                                      ThreadMemory::ByStream** place);
  [[gnu::noinline]] Status AskPlace(DeviceId device, StreamHandle stream, bool same,
                                    ThreadMemory::ByStream* place);
  [[gnu::noinline]] Status FindPlace(DeviceId device, StreamHandle stream, const StreamFacts* facts,
                                     ThreadMemory::ByStream* place);
  [[gnu::noinline]] Status AllocateSlow(const Request& request, core::SizeClass size_class,
                                        const ThreadMemory::ByStream& place, Address* address);
  Magazines* MagazinesFor(const Extent& extent, DevicePool* pool);
  Status FreeLive(const BlockRef& block, Address address);
  [[gnu::noinline]] Status FreeSlow(const BlockRef& block, Address address);
  [[gnu::noinline]] Status FreeOdd(const BlockRef& block, const StreamUse* use);

  LifeDriver life_;
  Options options_;
  ExtentTable extents_;
  // Above 32 bits the number of this pool, below it what changes when threads must look again.
  std::atomic<std::uint64_t> generation_{0};
  std::array<std::atomic<DevicePool*>, kMostDevices> devices_{};
  Mutex devices_mutex_;  // guards what follows
  ObjectTable<DevicePool> device_table_{kMostDevices * 2};
  void (*pressure_)(void*, DeviceId, Bytes) = nullptr;
  void* pressure_context_ = nullptr;
};

}  // namespace cuheap::pool
