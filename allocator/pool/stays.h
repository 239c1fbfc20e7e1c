// Why memory stays when a pool is emptied: for each free stretch beside held blocks, the block that
// keeps it.
#pragma once

#include <span>

#include "allocator/pool/extents.h"
#include "allocator/pool/heap.h"
#include "allocator/pool/statistics.h"

namespace cuheap::pool {

class StayList {
 public:
  explicit StayList(std::span<Stay> room) : room_(room) {}

  void Look(Heap& heap, ExtentTable& extents, bool graph);
  EmptyResult result() const { return result_; }

 private:
  void LookIn(const Range& range, const Heap& heap, ExtentTable& extents, bool graph);
  Stay KeeperOf(const core::BestFit::Block& block, const Heap& heap, ExtentTable& extents);
  void Add(const Stay& stay);

  std::span<Stay> room_;
  EmptyResult result_;
};

}  // namespace cuheap::pool
