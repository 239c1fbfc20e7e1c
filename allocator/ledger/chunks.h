// Chunks of the trace file: pieces of one type, appended for good.
// Threads: the caller serialises. No malloc, no syscall but the growth of the file.
#pragma once

#include <cstdint>

#include "allocator/ledger/shared_file.h"

namespace cuheap {

class Chunks {
 public:
  constexpr explicit Chunks(SharedFile& file) : file_(file) {}

  // A new chunk for at least `payload` bytes. nullptr when the file cannot grow. `parameter`: see
  // format::ChunkHeader.
  format::ChunkHeader* Append(format::ChunkType type, std::uint16_t record_size, Bytes payload,
                              std::uint32_t parameter = 0);

  static std::byte* Payload(format::ChunkHeader* chunk) {
    return reinterpret_cast<std::byte*>(chunk + 1);
  }
  static Bytes PayloadBytes(const format::ChunkHeader* chunk) {
    return Bytes(chunk->bytes - sizeof(format::ChunkHeader));
  }

  std::byte* file_data() const { return file_.data(); }
  format::FileHeader* header() const { return reinterpret_cast<format::FileHeader*>(file_.data()); }

 private:
  static constexpr int kTypes = 8;

  SharedFile& file_;
  std::uint32_t next_sequence_[kTypes] = {};
};

}  // namespace cuheap
