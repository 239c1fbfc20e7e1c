// Arenas of graphs: memory that is touched while a stream is captured belongs to the graph until
// the program releases it.
//
// Laws: 1. A stream that captures has one arena; others have the default one.
//       2. An arena that was released takes no new blocks; its memory is as idle as any other.
// Threads: none of its own; the device's lock.
#pragma once

#include <cstdint>

#include "allocator/base/slot_table.h"
#include "allocator/driver/driver.h"
#include "allocator/pool/heap.h"

namespace cuheap::pool {

class Arenas {
 public:
  // The arena for what a stream allocates now. A capture that nobody announced gets one.
  ArenaId For(const StreamFacts& facts) {
    if (!facts.capturing) {
      const SlotId announced = Find([&](const Arena& a) { return a.open && a.stream == facts.id; });
      return announced;
    }
    const SlotId known = Find([&](const Arena& a) {
      return a.open && (a.capture == facts.capture || a.stream == facts.id);
    });
    return known != 0 ? known : Add(facts);
  }

  // The stream's allocations belong to a graph until End: to `arena`, or to a new one where that is
  // 0. 0: no memory, or no such arena.
  ArenaId Begin(const StreamFacts& facts, ArenaId arena) {
    if (arena == kDefaultArena) return Add(facts);
    if (!Has(arena)) return 0;
    arenas_[arena].open = true;
    arenas_[arena].stream = facts.id;
    arenas_[arena].capture = facts.capture;
    return arena;
  }
  bool End(ArenaId arena) {
    if (!Has(arena) || !arenas_[arena].open) return false;
    arenas_[arena].open = false;
    return true;
  }
  bool Release(ArenaId arena) {
    if (!Has(arena)) return false;
    arenas_[arena] = {.released = true};
    return true;
  }

  bool IsGraph(ArenaId arena) const { return arena != kDefaultArena && Has(arena); }
  void Clear() { arenas_.Release(); }

 private:
  struct Arena {
    StreamId stream{};
    std::uint64_t capture = 0;
    bool open = false;
    bool released = false;
  };

  bool Has(ArenaId arena) const {
    return arena != 0 && arena <= arenas_.taken() && !arenas_[arena].released;
  }
  ArenaId Add(const StreamFacts& facts) {
    return arenas_.Add({.stream = facts.id, .capture = facts.capture, .open = true});
  }
  template <class Is>
  SlotId Find(Is&& is) const {
    for (SlotId id = 1; id <= arenas_.taken(); ++id)
      if (is(arenas_[id])) return id;
    return 0;
  }

  SlotTable<Arena> arenas_{1u << 16};  // never removed: numbers name arenas in reports
};

}  // namespace cuheap::pool
