// The physical pages that a device's pool created: every handle, and which of them are spare
// (mapped nowhere, ready to be mapped where pages are missing).
//
// Threads: none of its own; the device's lock.
#pragma once

#include <cstdint>

#include "allocator/base/slot_table.h"
#include "allocator/core/page_map.h"
#include "allocator/driver/driver.h"

namespace cuheap::pool {

class PageTable {
 public:
  // Handles chained one behind the other, outside of any table.
  struct Chain {
    SlotId first = 0;
    std::uint32_t count = 0;
  };

  // kNone: the table is full.
  core::HandleId Add(PagesHandle pages) { return core::HandleId(pages_.Add({.pages = pages})); }
  void Remove(core::HandleId id) { pages_.Remove(Slot(id)); }
  PagesHandle operator[](core::HandleId id) const { return pages_[Slot(id)].pages; }

  void Push(Chain* chain, core::HandleId id) {
    pages_[Slot(id)].next = chain->first;
    chain->first = Slot(id);
    ++chain->count;
  }
  // REQUIRES: the chain is not empty.
  core::HandleId Pop(Chain* chain) {
    const SlotId slot = chain->first;
    chain->first = pages_[slot].next;
    --chain->count;
    return core::HandleId(slot);
  }
  // At most `count` of the spare ones.
  void TakeSpare(std::uint32_t count, Chain* taken) {
    while (spare_.count > 0 && taken->count < count) Push(taken, Pop(&spare_));
  }
  void Spare(Chain* chain) {
    while (chain->count > 0) Push(&spare_, Pop(chain));
  }

  std::uint32_t spare() const { return spare_.count; }
  void Release() {
    pages_.Release();
    spare_ = {};
  }

 private:
  struct Page {
    PagesHandle pages{};
    SlotId next = 0;
  };

  static SlotId Slot(core::HandleId id) { return static_cast<SlotId>(id); }

  SlotTable<Page> pages_{1u << 22};  // 8 TiB in pages of 2 MiB
  Chain spare_;
};

}  // namespace cuheap::pool
