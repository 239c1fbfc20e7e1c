// The loaded objects of the process as they were at the last Refresh: the stand-in for
// _dl_find_object below glibc 2.35.
//
// Laws
//   1. Find takes no lock: it reads one of two tables and starts over when that one is being
//   rewritten.
//   2. An object that was unloaded after the last Refresh is not found: its unwind table must still
//   begin as it did.
#pragma once

#include <atomic>
#include <cstdint>

#include "allocator/base/virtual_range.h"
#include "allocator/capture/modules.h"

namespace cuheap::capture {

class ModuleMap {
 public:
  constexpr ModuleMap() = default;

  // Takes the loader lock (dl_iterate_phdr). Any thread; one at a time, others return at once.
  void Refresh();
  bool Find(std::uint64_t pc, Module* module) const;

 private:
  static constexpr std::size_t kMostModules = 8192;
  // begin, end, bias, link map, unwind table, the table's first word
  static constexpr std::size_t kWords = 6;
  using Entry = std::atomic<std::uint64_t>[kWords];

  struct Collector;
  static Entry* EntriesOf(const VirtualRange& table) {
    return reinterpret_cast<Entry*>(table.data());
  }

  std::atomic<bool> refreshing_{false};
  // Even: the table of (version_ / 2) % 2 is valid. Advanced by two per refresh.
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::size_t> counts_[2] = {};
  VirtualRange tables_[2];
};

}  // namespace cuheap::capture
