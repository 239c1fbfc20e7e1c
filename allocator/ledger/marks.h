// Marks: what happened at a moment, in words. Threads: the caller serialises.
#pragma once

#include "allocator/ledger/chunks.h"

namespace cuheap {

class Marks {
 public:
  constexpr explicit Marks(Chunks& chunks) : chunks_(chunks) {}

  // Beyond kMost, and where the file cannot grow, marks are counted only.
  void Add(const format::MarkRecord& mark);

 private:
  static constexpr std::uint32_t kMost = 1024;

  std::byte* Room();

  Chunks& chunks_;
  format::ChunkHeader* newest_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace cuheap
