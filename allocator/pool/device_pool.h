// What a pool does on one device when a magazine does not have the block: heaps for each stream and
// arena, growth, reuse across streams, and what happens when memory is short.
//
// A call looks into its heap under the device's lock. What is missing there is planned under the
// lock, done by the driver without it, and settled under it again; meanwhile the addresses and
// pages in question are claimed, so nobody else takes them.
//
// Laws: 1. No driver call and no foreign code under the lock.
//       2. A block goes out only to its own stream, or after an event on every stream that used it.
//       3. A page is unmapped only after the host waited for all work that was submitted on its
//          addresses: they were claimed before the event.
//       4. Arenas share no pages; a graph's are touched by nobody until the graph is released.
//       5. A call that fails leaves what is reserved as it was.
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "allocator/base/mutex.h"
#include "allocator/base/object_table.h"
#include "allocator/driver/driver.h"
#include "allocator/pool/arenas.h"
#include "allocator/pool/extents.h"
#include "allocator/pool/heap.h"
#include "allocator/pool/magazines.h"
#include "allocator/pool/options.h"
#include "allocator/pool/pages.h"
#include "allocator/pool/statistics.h"
#include "allocator/pool/status.h"
#include "allocator/pool/uses.h"
#include "allocator/pool/waiting.h"

namespace cuheap::pool {

// What is asked for, when it is known for which stream.
struct Order {
  Bytes bytes{};      // a size class, or whole granules
  Bytes alignment{};  // a power of two
  core::SizeClass size_class = kNoClass;
  HeapKey key;
  StreamHandle stream{};
  bool capturing = false;
};

class DevicePool {
 public:
  // `generation`: whoever remembers which heap or magazines a stream has must ask again after it
  // changed.
  DevicePool(Driver& driver, ExtentTable& extents, std::atomic<std::uint64_t>& generation,
             DeviceId device, const Options& options)
      : driver_(driver),
        extents_(extents),
        generation_(generation),
        device_(device),
        options_(options) {}

  // Asks the driver what the device is. Once, before all else.
  Status Start();

  // ---- blocks. Their use is kCached when they go out, and when they come back.
  Status Allocate(const Order& order, Magazines* magazines, BlockRef* block);
  void Free(const BlockRef& block);
  // Blocks of a magazine that is full, and one more.
  void Flush(Magazines* magazines, std::uint32_t size_class, std::uint32_t count,
             const BlockRef& block);
  // The block was freed (kWaiting) and `last` uses it too, or none: back when all streams are past
  // it.
  void FreeLater(const BlockRef& block, const StreamUse* last);
  Status AddUse(const BlockRef& block, const StreamUse& use);
  bool IsHome(const BlockRef& block, StreamId stream);
  // What waits for the stream gets its event now: the handle is the stream's, or nothing happens.
  void CloseOpen(const StreamUse& use);

  // ---- streams, threads, arenas
  // The magazines of a thread for a stream's heap, made where there are none; null: no memory.
  Magazines* MagazinesOf(const HeapKey& key, StreamHandle stream, std::uint32_t thread);
  // Null: the thread has none.
  Magazines* FindMagazines(std::uint32_t heap, std::uint32_t thread);
  void ThreadEnded(std::uint32_t thread);
  ArenaId ArenaFor(const StreamFacts& facts);
  Status BeginGraph(const StreamFacts& facts, ArenaId* arena);
  Status EndGraph(ArenaId arena);
  Status ReleaseGraph(ArenaId arena);

  // ---- memory
  // Gives back all that nothing holds. What stayed, and why: the first `stays.size()` reasons.
  Status Empty(std::span<Stay> stays, EmptyResult* result);
  // Another device may use the pool's memory, that of today and of later.
  Status AllowAccess(DeviceId peer);
  Statistics Figures();
  Bytes Reserved();
  void Explain(Shortage* shortage);
  // The device was reset: its memory is gone, and what is freed of it is swallowed.
  void Forget();

  void set_pressure(void (*ask)(void*, DeviceId, Bytes), void* context) {
    pressure_ = ask;
    pressure_context_ = context;
  }

  const char* FirstBrokenLaw();
  // Gives all memory back, for a pool that ends while the process goes on. REQUIRES: nobody else
  // uses it.
  void Shutdown();

 private:
  // How much may be disturbed to find memory.
  enum class Effort : std::uint8_t {
    kCalm,    // only idle pages of the own heap, beyond the slack
    kOwn,     // all idle pages of the own heap
    kDevice,  // idle pages of all heaps of the arena, after waiting for the device
  };
  struct Growth;

  // ---- device_pool.cc
  Status TryAllocate(const Order& order, Magazines* magazines, Effort effort, BlockRef* block);
  Heap* TakeAtHand(const Order& order, Magazines* magazines, BlockRef* block, Need* need,
                   bool* some_wait);
  BlockRef TakeFrom(Heap& heap, const Order& order, Need* need);
  void Refill(Heap& heap, const Order& order, Magazines* magazines);
  Heap* HeapFor(const HeapKey& key, StreamHandle stream, const Magazines* magazines);
  SlotId MagazinesOwnedBy(std::uint32_t heap, std::uint32_t thread);
  void GiveBack(const BlockRef& block);
  void GiveBackAt(Address address);

  // ---- growth.cc
  Status Grow(Heap& heap, const Order& order, const Need& need, Effort effort, BlockRef* block);
  Status GrowVirtual(Growth* growth, Effort effort);
  Status GrowDriver(const Need& need);
  Status AddDriverSegment(Range* range, Bytes bytes);
  Status AddSegment(const Growth& growth);
  bool PlanWindow(Growth* growth);
  void DecideMoves(Growth* growth, Effort effort);
  Status CreatePages(Growth* growth);
  Status MapPages(Growth* growth);
  Status MapChunk(Growth* growth, const PageRun& run);
  void RollBack(Growth* growth);
  // Memory of the driver within the limit; it is reserved then.
  Status Buy(Bytes bytes, Address* address);
  bool TakeBudget(Bytes bytes);
  void ReturnBudget(Bytes bytes);

  // ---- huge.cc
  Status AllocateHuge(Heap& heap, const Order& order, BlockRef* block);
  BlockRef TakeHuge(const Heap& heap, Bytes bytes);
  Status AllocateManaged(Heap& heap, Bytes wanted, BlockRef* block);
  Status OwnBlock(const Heap& heap, ExtentKind kind, Address address, Bytes bytes, BlockRef* block);
  void ReleaseHuge();

  // ---- reclaim.cc
  struct IdleClaims;
  // Idle pages leave their ranges and join the chain, at most `pages` of them.
  DriverStatus MovePages(Heap* own, StreamHandle stream, Effort effort, std::uint32_t pages,
                         PageTable::Chain* chain);
  void ClaimIdle(Heap* own, Effort effort, std::uint32_t pages, IdleClaims* claims);
  void UnmapClaims(const IdleClaims& claims, PageTable::Chain* chain);
  void AbandonClaims(const IdleClaims& claims);
  DriverStatus WaitForStream(StreamHandle stream);
  DriverStatus WaitForDevices();
  DriverStatus DestroySpare(std::uint32_t pages);
  void ReleaseIdleSegments();

  // ---- waits.cc
  EventHandle TakeEvent(StreamHandle stream);
  void KeepEvent(EventHandle event);
  void Poll();
  bool WaitForLargest();
  DriverStatus WaitForEverything();

  // ---- empty_cache.cc
  // The first run of mapped pages behind an address, which further devices may use from now on.
  bool NextMappedRun(std::uint64_t access, std::uint64_t from, std::uint64_t* begin, Bytes* bytes);

  // ---- ladder.cc
  Status Climb(const Order& order, Magazines* magazines, BlockRef* block);
  Status StandIn(const Order& order, const Magazines* magazines, BlockRef* block);
  bool GiveBackIdlePages();
  void DrainMagazines();

  // ---- pages, where there is virtual memory
  Bytes BytesOf(std::uint64_t pages) const { return Bytes(pages * rules_.granule.count()); }
  std::uint64_t PagesIn(Bytes bytes) const { return bytes.count() / rules_.granule.count(); }

  Driver& driver_;
  ExtentTable& extents_;
  std::atomic<std::uint64_t>& generation_;
  const DeviceId device_;
  const Options& options_;
  Bytes total_{};    // of the device
  Bytes huge_{};     // requests from here on are driver allocations of their own
  PageRules rules_;  // granule 0: no virtual memory
  void (*pressure_)(void*, DeviceId, Bytes) = nullptr;
  void* pressure_context_ = nullptr;

  Mutex mutex_;  // guards what follows
  ObjectTable<Heap> heaps_{1u << 16};
  ObjectTable<Magazines> magazines_{1u << 16};
  Arenas arenas_;
  PageTable pages_;
  WaitingBlocks waiting_;
  StreamUses uses_;
  SlotId idle_huge_ = 0;  // chained extents
  Bytes committed_{};  // of the driver: pages, segments, huge blocks; and what is being asked for
  Bytes managed_{};    // managed memory, which is not the device's
  Bytes huge_live_{};
  Bytes huge_idle_{};
  std::uint64_t own_blocks_ = 0;  // that are driver allocations of their own, and out
  std::uint64_t access_ = 0;      // devices that may use the memory, a bit each
  static constexpr std::size_t kMostEvents = 64;
  std::array<EventHandle, kMostEvents> events_{};  // reached, to be recorded again
  std::size_t event_count_ = 0;
  std::uint64_t created_pages_ = 0;  // so far, as the next two
  std::uint64_t moved_pages_ = 0;
  std::uint64_t calm_moves_ = 0;  // moves that new pages paid for
  std::uint64_t failures_ = 0;
};

}  // namespace cuheap::pool
