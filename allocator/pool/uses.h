// Which streams use a live block besides its own: what record_use told.
//
// Law: a stream is kept once for a block, with the handle it was told by last.
// Threads: none of its own; the device's lock.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/base/fold.h"
#include "allocator/base/ids.h"
#include "allocator/base/slot_table.h"

namespace cuheap::pool {

struct StreamUse {
  StreamId stream{};
  StreamHandle handle{};
};

class StreamUses {
 public:
  // False: no memory; nothing changed.
  [[nodiscard]] bool Add(Address block, const StreamUse& use) {
    SlotId& first = buckets_[BucketOf(block)];
    for (SlotId id = first; id != 0; id = entries_[id].next) {
      Entry& entry = entries_[id];
      if (entry.block != block || entry.use.stream != use.stream) continue;
      entry.use.handle = use.handle;
      return true;
    }
    const SlotId added = entries_.Add({block, use, first});
    if (added != 0) first = added;
    return added != 0;
  }

  // A use of the block, which is forgotten; false: there is none left.
  bool Take(Address block, StreamUse* use) {
    for (SlotId* place = &buckets_[BucketOf(block)]; *place != 0; place = &entries_[*place].next) {
      const Entry entry = entries_[*place];
      if (entry.block != block) continue;
      entries_.Remove(*place);
      *place = entry.next;
      *use = entry.use;
      return true;
    }
    return false;
  }

  void Release() {
    entries_.Release();
    buckets_ = {};
  }

 private:
  struct Entry {
    Address block{};
    StreamUse use;
    SlotId next = 0;
  };
  static constexpr std::size_t kBuckets = 1024;

  static std::size_t BucketOf(Address block) {
    return Fold(Value(block), 0x9e3779b97f4a7c15u) % kBuckets;
  }

  SlotTable<Entry> entries_{1u << 20};
  std::array<SlotId, kBuckets> buckets_{};
};

}  // namespace cuheap::pool
