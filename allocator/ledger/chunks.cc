#include "allocator/ledger/chunks.h"

#include <new>

namespace cuheap {

format::ChunkHeader* Chunks::Append(format::ChunkType type, std::uint16_t record_size,
                                    Bytes payload, std::uint32_t parameter) {
  const Bytes whole =
      (payload + Bytes(sizeof(format::ChunkHeader))).RoundedUpTo(Bytes(format::kChunkUnit));
  std::byte* place = file_.Grow(whole);
  if (place == nullptr) return nullptr;
  auto* chunk = new (place) format::ChunkHeader();
  chunk->type = type;
  chunk->record_size = record_size;
  chunk->sequence = next_sequence_[static_cast<int>(type)]++;
  chunk->parameter = parameter;
  chunk->bytes = whole.count();
  chunk->magic.store(format::kChunkMagic, std::memory_order_release);
  header()->used_bytes.store(file_.size().count(), std::memory_order_release);
  return chunk;
}

}  // namespace cuheap
