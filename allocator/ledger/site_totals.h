// Per site, what cannot be derived from records because records are reused: totals, gauges, how
// long blocks lived. Threads: the caller serialises; readers of the file see single fields, each
// whole.
#pragma once

#include "allocator/base/ids.h"
#include "allocator/base/virtual_range.h"
#include "allocator/ledger/chunks.h"

namespace cuheap {

class SiteTotalsTable {
 public:
  constexpr explicit SiteTotalsTable(Chunks& chunks) : chunks_(chunks) {}

  // Site ids run from 0 (unknown) to `largest`.
  [[nodiscard]] bool Start(std::uint32_t largest);

  void Born(SiteId site, Bytes bytes, std::uint64_t now);
  struct Life {
    std::uint64_t birth_time;
    std::uint64_t free_time;
    std::uint64_t birth_step;
    std::uint64_t free_step;
  };
  void Died(SiteId site, Bytes bytes, const Life& life);
  // The block lives on after all: the death is not counted. The lifetime it was filed under stays;
  // a failed free is rare.
  void Undied(SiteId site, Bytes bytes);

 private:
  format::SiteTotals* At(SiteId site);

  Chunks& chunks_;
  VirtualRange memory_;  // format::SiteTotals* by site id
  std::uint32_t largest_ = 0;
  format::ChunkHeader* newest_ = nullptr;
};

}  // namespace cuheap
