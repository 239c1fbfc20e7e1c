#include "tools/trace/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cuheap::trace {
namespace {

// What this version needs of a record; 0 for a stream, -1 for a type it does not know.
int LeastRecordSize(format::ChunkType type) {
  switch (type) {
    case format::ChunkType::kBlock:
      return sizeof(format::BlockRecord);
    case format::ChunkType::kInstant:
      return sizeof(format::InstantRecord);
    case format::ChunkType::kTotal:
      return sizeof(format::SiteTotals);
    case format::ChunkType::kTick:
      return sizeof(format::TickRecord);
    case format::ChunkType::kMark:
      return sizeof(format::MarkRecord);
    case format::ChunkType::kEvent:
      return sizeof(format::EventRecord);
    case format::ChunkType::kDictionary:
      return 0;
  }
  return -1;
}

Error Corrupt(std::uint64_t offset, std::string_view what) {
  return {ErrorKind::kCorrupt, fmt::format("corrupt: {} (chunk at offset {})", what, offset)};
}

}  // namespace

Result<ChunkList> ListChunks(std::span<const std::byte> file, std::uint64_t used_bytes) {
  ChunkList list;
  if (used_bytes % format::kChunkUnit != 0) {
    return Error{ErrorKind::kCorrupt,
                 "corrupt: the header's size of the file is not a multiple of its unit"};
  }
  list.cut_at = file.size();
  for (std::uint64_t offset = format::kChunkUnit; offset < used_bytes;) {
    if (offset + sizeof(format::ChunkHeader) > file.size()) {
      list.cut = true;
      break;
    }
    const auto& header = *reinterpret_cast<const format::ChunkHeader*>(file.data() + offset);
    const std::uint32_t magic = header.magic.load(std::memory_order_acquire);
    if (magic == 0) break;  // growth that was in flight
    if (magic != format::kChunkMagic) return Corrupt(offset, "no chunk where one should be");
    Chunk chunk{.offset = offset,
                .bytes = header.bytes,
                .type = header.type,
                .record_size = header.record_size,
                .sequence = header.sequence,
                .parameter = __atomic_load_n(&header.parameter, __ATOMIC_ACQUIRE),
                .header = &header,
                .payload = {}};
    if (chunk.bytes == 0 || chunk.bytes % format::kChunkUnit != 0 ||
        chunk.bytes > used_bytes - offset) {
      return Corrupt(offset, "impossible chunk size");
    }
    const int least = LeastRecordSize(chunk.type);
    if (least < 0) {
      ++list.unknown;
    } else if (least > 0 && (chunk.record_size < least || chunk.record_size % 8 != 0)) {
      return Corrupt(offset, "impossible record size");
    } else {
      const std::uint64_t begin = offset + sizeof(format::ChunkHeader);
      const std::uint64_t room = chunk.bytes - sizeof(format::ChunkHeader);
      const std::uint64_t committed = header.committed.load(std::memory_order_acquire);
      if (committed > room) return Corrupt(offset, "more payload than the chunk holds");
      chunk.payload = file.subspan(begin, std::min(committed, file.size() - begin));
      list.chunks.push_back(chunk);
    }
    if (chunk.bytes > file.size() - offset) {
      list.cut = true;
      break;
    }
    offset += chunk.bytes;
  }
  return list;
}

}  // namespace cuheap::trace
