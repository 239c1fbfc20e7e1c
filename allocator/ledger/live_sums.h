// What lives on each device now, and the peak of it. Counted are the blocks of heaps that are part
// of a device's used memory; segments are not, nor blocks that are expected to become some.
// Threads: the caller serialises.
#pragma once

#include "allocator/ledger/instants.h"

namespace cuheap {

bool CountsAsLive(format::Heap heap, std::uint8_t flags);

class LiveSums {
 public:
  constexpr LiveSums(Chunks& chunks, Instants& instants) : chunks_(chunks), instants_(instants) {}

  // The record counts from `now` on. A new peak of its device becomes a kept instant.
  void Add(const format::BlockRecord& record, std::uint64_t now, std::uint64_t step);
  void Subtract(const format::BlockRecord& record);
  // A live record turned out to be a segment: it leaves the sum, and the sums and peak that were
  // noted since its birth. A higher peak that these had hidden is not known.
  void TakeBack(const format::BlockRecord& record);

  // The highest sum over all devices.
  Bytes peak() const { return Bytes(peak_total_); }

 private:
  Chunks& chunks_;
  Instants& instants_;
  std::uint64_t live_total_ = 0;
  std::uint64_t peak_total_ = 0;
};

}  // namespace cuheap
