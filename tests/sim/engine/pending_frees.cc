#include "tests/sim/engine/pending_frees.h"

#include <utility>

#include "tests/sim/engine/stream.h"

namespace cuheap::sim {

void PendingFrees::Add(std::uintptr_t address, std::uint64_t bytes, std::uint64_t stream_id,
                       TicketPtr free) {
  blocks_.push_back({address, SegmentedHeap::Rounded(bytes), stream_id, std::move(free)});
}

PendingFrees::Reused PendingFrees::Cut(Blocks::iterator block, std::uint64_t bytes) {
  Reused reused{block->address, block->free};
  block->address += bytes;
  block->bytes -= bytes;
  if (block->bytes == 0) blocks_.erase(block);
  return reused;
}

std::optional<PendingFrees::Reused> PendingFrees::Take(std::uint64_t bytes, Stream* stream,
                                                       const ReusePolicy& policy) {
  const std::uint64_t wanted = SegmentedHeap::Rounded(bytes);
  auto best = blocks_.end();
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    if (block->bytes < wanted || (best != blocks_.end() && best->bytes <= block->bytes)) continue;
    // Who comes after what is known where work is queued only.
    const bool own = block->stream_id == stream->id;
    const bool follows = policy.follow_events && block->free != nullptr;
    if (own || (follows && ComesAfter(stream, block->free))) best = block;
  }
  if (best == blocks_.end()) return std::nullopt;
  Reused reused = Cut(best, wanted);
  reused.wait_for = nullptr;
  return reused;
}

std::optional<PendingFrees::Reused> PendingFrees::TakeByWaiting(std::uint64_t bytes,
                                                                const ReusePolicy& policy) {
  const std::uint64_t wanted = SegmentedHeap::Rounded(bytes);
  if (!policy.internal_dependencies) return std::nullopt;
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
    if (block->bytes >= wanted) return Cut(block, wanted);
  return std::nullopt;
}

std::uint64_t PendingFrees::DoneBytes() const {
  std::uint64_t bytes = 0;
  for (const Block& block : blocks_)
    if (block.IsDone()) bytes += block.bytes;
  return bytes;
}

void PendingFrees::ReturnDone(SegmentedHeap* heap) {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    if (!block->IsDone()) {
      ++block;
      continue;
    }
    heap->Free(block->address, block->bytes);
    block = blocks_.erase(block);
  }
}

}  // namespace cuheap::sim
