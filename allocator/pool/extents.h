// From an address to the block that begins there, for all devices of a pool.
//
// An extent is a run of addresses that a heap took at once: a slab with cells of one size class, or
// a single block. Blocks are cells or whole extents.
//
//   radix map:  | 64 KiB | 64 KiB | 64 KiB | 64 KiB |
//                  slab     slab     block    (none: the block goes on)
//
// A slab owns its units. Another extent is at least a unit long, so at most one begins in a unit.
//
// Laws: 1. A block has one use at a time; who changes it owns what follows.
//       2. What Find reads of a live block does not change while it lives.
// Threads: Add and Remove lock; Find takes no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"
#include "allocator/base/mutex.h"
#include "allocator/base/radix_map.h"
#include "allocator/base/slot_table.h"
#include "allocator/core/best_fit.h"
#include "allocator/core/slab.h"

namespace cuheap::pool {

enum class ExtentKind : std::uint8_t { kNone, kSlab, kBlock, kHuge, kManaged };

enum class BlockUse : std::uint8_t {
  kFree,     // in its heap
  kCached,   // in a magazine, or on its way there
  kLive,     // the program's
  kShared,   // the same, and other streams than its own use it
  kWaiting,  // freed, a stream not yet past it
  kLost,     // its device was reset: frees are swallowed
};

struct Extent {
  std::uint64_t begin = 0;
  Bytes bytes;
  std::uint32_t heap = 0;
  core::BlockId block{};          // of the heap's best fit; none: a driver allocation of its own
  SlotId cells = 0;               // of a slab
  std::uint32_t cell_bytes = 0;   // of a slab
  std::uint32_t cell_factor = 0;  // granules from the slab's begin * factor >> 20 = cell
  SlotId next = 0;                // chained by whoever keeps it: slabs with room, cached huge ones
  SlotId before = 0;
  std::uint16_t size_class = 0;
  DeviceId device{};
  ExtentKind kind{};
  BlockUse use{};  // of a single block
  bool chained = false;
};

struct Cells {
  core::Slab slab;
  BlockUse uses[core::SizeClasses::kMostInSlab] = {};
};

// A place where a block begins.
struct BlockRef {
  SlotId extent = 0;
  std::uint32_t cell = 0;
  BlockUse* use = nullptr;

  explicit operator bool() const { return extent != 0; }
};

inline BlockUse Load(const BlockRef& block) {
  return std::atomic_ref(*block.use).load(std::memory_order_acquire);
}
inline void Store(BlockUse* use, BlockUse value) {
  std::atomic_ref(*use).store(value, std::memory_order_release);
}
// False: it was in another state, and is.
inline bool Change(const BlockRef& block, BlockUse from, BlockUse to) {
  return std::atomic_ref(*block.use).compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

class ExtentTable {
 public:
  constexpr ExtentTable() = default;

  // 0: no memory for the tables. The addresses are findable from now on.
  SlotId AddSlab(const Extent& extent, std::uint32_t cells);
  SlotId AddBlock(const Extent& extent);
  void Remove(SlotId id);
  // The extent's addresses stay, and what is freed there is swallowed.
  void Lose(SlotId id);

  // None: no block begins there.
  BlockRef Find(Address address);

  Extent& operator[](SlotId id) { return extents_[id]; }
  Cells& CellsOf(SlotId id) { return cells_[extents_[id].cells]; }
  BlockRef RefOf(SlotId id, std::uint32_t cell);
  Address AddressOf(const BlockRef& block) const {
    const Extent& extent = extents_[block.extent];
    return Address(extent.begin + std::uint64_t{block.cell} * extent.cell_bytes);
  }
  Bytes BytesOf(const BlockRef& block) const {
    const Extent& extent = extents_[block.extent];
    return extent.kind == ExtentKind::kSlab ? Bytes(extent.cell_bytes) : extent.bytes;
  }
  // visit(SlotId), of all extents; not while others add or remove.
  template <class Visit>
  void ForEach(Visit&& visit) {
    for (SlotId id = 1; id <= extents_.last(); ++id)
      if (extents_[id].kind != ExtentKind::kNone) visit(id);
  }

  void Release();

 private:
  static constexpr std::uint32_t kMost = 1u << 22;
  static constexpr std::uint32_t kGranuleLog2 = core::SizeClassRules{}.granule_log2;
  static constexpr std::uint32_t kFactorLog2 = 20;

  SlotId Add(const Extent& extent);

  Mutex mutex_;  // guards changes of what follows
  SlotTable<Extent> extents_{kMost};
  SlotTable<Cells> cells_{kMost};
  RadixMap map_;
};

inline BlockRef ExtentTable::Find(Address address) {
  const SlotId id = map_.Find(address);
  if (id == 0) return {};
  Extent& extent = extents_[id];
  const std::uint64_t offset = Value(address) - extent.begin;
  if (extent.kind != ExtentKind::kSlab)
    return offset == 0 ? BlockRef{id, 0, &extent.use} : BlockRef{};
  const std::uint64_t cell = ((offset >> kGranuleLog2) * extent.cell_factor) >> kFactorLog2;
  // The tail of a slab is no cell: its use would lie behind those of the cells, and is kFree.
  if (cell * extent.cell_bytes != offset || cell >= core::SizeClasses::kMostInSlab) return {};
  return {id, static_cast<std::uint32_t>(cell), &cells_[extent.cells].uses[cell]};
}

}  // namespace cuheap::pool
