// The memory of one stream in one arena: slabs of each size class, single blocks, and the two
// ranges they lie in. Small ones have a range of their own, so that one that lives long never
// splits the room of large ones.
//
// Laws: 1. A slab is chained in its class exactly while it has room; an empty one is given back.
//       2. What is taken has the use kCached; its taker makes it live.
//       3. The bytes that are out are those of the blocks that were taken and not given.
// No driver call here. Threads: none of its own; the device's lock.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"
#include "allocator/core/size_classes.h"
#include "allocator/pool/extents.h"
#include "allocator/pool/range.h"

namespace cuheap::pool {

inline constexpr core::SizeClasses kSizeClasses{};
inline constexpr std::uint32_t kClasses = kSizeClasses.count();
inline constexpr Bytes kLargestSmall = kSizeClasses.rules().largest;

using ArenaId = std::uint32_t;
inline constexpr ArenaId kDefaultArena = 0;

struct HeapKey {
  StreamId stream{};
  ArenaId arena = kDefaultArena;
  friend bool operator==(HeapKey, HeapKey) = default;
};

// What a heap was asked for and did not have: where it must grow, and by how much.
struct Need {
  Range* range = nullptr;
  Bytes bytes;
  Bytes alignment;
};

class Heap {
 public:
  Heap(ExtentTable& extents, DeviceId device, const HeapKey& key, StreamHandle handle)
      : extents_(extents), device_(device), key_(key), handle_(handle) {}
  ~Heap() { Clear(); }

  // A heap that holds nothing may become another stream's.
  void Rename(const HeapKey& key, StreamHandle handle) {
    key_ = key;
    handle_ = handle;
  }
  void set_number(std::uint32_t number) { number_ = number; }
  std::uint32_t number() const { return number_; }
  const HeapKey& key() const { return key_; }
  StreamHandle handle() const { return handle_; }

  // ---- small blocks, of a class. None: `need` says what is missing.
  BlockRef Take(core::SizeClass size_class, Need* need);
  // The same from the slabs there are. None: they are full.
  BlockRef TakeCell(core::SizeClass size_class);
  // ---- large blocks, in granules, and those with a wish for alignment.
  BlockRef TakeLarge(Bytes bytes, Bytes alignment, Need* need);
  // A block that the range made for a need: the extent that lies in it.
  BlockRef Adopt(core::BlockId block, const Need& need, core::SizeClass size_class);
  // REQUIRES: taken here, and kCached again.
  void Give(const BlockRef& block);

  // Blocks that are out: live, waiting or in magazines.
  Bytes out() const { return out_; }
  std::uint64_t blocks_out() const { return blocks_out_; }
  bool is_empty() const { return blocks_out_ == 0 && small_.mapped() + large_.mapped() == Bytes(); }
  bool has_segments() const { return small_.has_segments() || large_.has_segments(); }

  Range& small() { return small_; }
  Range& large() { return large_; }

  const char* FirstBrokenLaw();
  void Clear();

 private:
  BlockRef TakeFromSlab(SlotId slab);
  BlockRef NewSlab(core::BlockId block, core::SizeClass size_class);
  BlockRef NewBlock(Range& range, core::BlockId block, core::SizeClass size_class);
  void Chain(SlotId slab);
  void Unchain(SlotId slab);
  void DropSlab(SlotId slab);
  void CountOut(Bytes bytes) {
    out_ += bytes;
    ++blocks_out_;
  }

  ExtentTable& extents_;
  DeviceId device_;
  HeapKey key_;
  StreamHandle handle_;
  std::uint32_t number_ = 0;
  Range small_;
  Range large_;
  std::array<SlotId, kClasses> with_room_{};  // slabs
  Bytes out_;
  std::uint64_t blocks_out_ = 0;
};

// The class of blocks that belong to none.
inline constexpr core::SizeClass kNoClass{0xffff};

}  // namespace cuheap::pool
