#include "allocator/ledger/marks.h"

#include <new>

namespace cuheap {

using format::MarkRecord;

std::byte* Marks::Room() {
  if (count_ >= kMost) return nullptr;
  if (newest_ == nullptr ||
      newest_->committed.load(std::memory_order_relaxed) + sizeof(MarkRecord) >
          Chunks::PayloadBytes(newest_).count()) {
    format::ChunkHeader* chunk =
        chunks_.Append(format::ChunkType::kMark, sizeof(MarkRecord),
                       Bytes(format::kChunkUnit - sizeof(format::ChunkHeader)));
    if (chunk == nullptr) return nullptr;
    newest_ = chunk;
  }
  return Chunks::Payload(newest_) + newest_->committed.load(std::memory_order_relaxed);
}

void Marks::Add(const MarkRecord& mark) {
  std::byte* place = Room();
  if (place == nullptr) {
    chunks_.header()->dropped.marks.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  new (place) MarkRecord(mark);
  newest_->committed.fetch_add(sizeof mark, std::memory_order_release);
  ++count_;
}

}  // namespace cuheap
