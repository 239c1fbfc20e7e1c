// The chunks of a trace: the one place that follows sizes found in the file.
//
// Laws: 1. A payload lies inside the bytes given. 2. A chunk of fixed records has a record size
// that is a multiple of 8 and at least what this version needs; its payload starts 8-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/ledger/format.h"
#include "tools/trace/result.h"

namespace cuheap::trace {

struct Chunk {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  format::ChunkType type{};
  std::uint16_t record_size = 0;
  std::uint32_t sequence = 0;
  std::uint32_t parameter = 0;
  const format::ChunkHeader* header = nullptr;
  std::span<const std::byte> payload;  // the part in use and in the file

  std::size_t record_count() const { return record_size == 0 ? 0 : payload.size() / record_size; }
  const std::byte* record(std::size_t i) const { return payload.data() + i * record_size; }
};

struct ChunkList {
  std::vector<Chunk> chunks;
  bool cut = false;           // the file ends before its chunks do
  std::uint64_t cut_at = 0;   // where it ends
  std::uint64_t unknown = 0;  // chunks of a type this version does not know, skipped
};

// `file` is the whole file, header page included; `used_bytes` is FileHeader::used_bytes.
Result<ChunkList> ListChunks(std::span<const std::byte> file, std::uint64_t used_bytes);

}  // namespace cuheap::trace
