// Things by content: each string, module, code object, site, thread and stream stands in the file
// once and has an id. A private hash table finds an entry by its content; the content itself is
// compared in the file, so two entries never share an id. Threads: the caller serialises. No
// malloc. Bounded: the table has a fixed size, and a full one is a refused entry (id 0).
#pragma once

#include <cstdint>
#include <span>

#include "allocator/base/virtual_range.h"
#include "allocator/ledger/chunks.h"

namespace cuheap {

class Dictionary {
 public:
  using Part = std::span<const std::byte>;

  constexpr explicit Dictionary(Chunks& chunks) : chunks_(chunks) {}

  [[nodiscard]] bool Start();

  // What an entry says: `first` followed by `second`. Made without the lock, because hashing a
  // stack takes as long as all the rest.
  struct Content {
    Content(format::DictionaryKind what, Part head, Part tail = {});
    format::DictionaryKind kind;
    Part first;
    Part second;
    std::uint64_t hash;
  };

  // The id of the entry, made if it is new. 0 when there is no room, which is counted. `largest`:
  // ids of this kind beyond it are refused (that is the caller's to count).
  std::uint32_t Intern(const Content& content, std::uint32_t largest = ~0u);

 private:
  // Of 2^18 places of 16 bytes 3/4 may be taken.
  static constexpr int kPlaceBits = 18;
  static constexpr std::uint32_t kMostEntries = 3u << (kPlaceBits - 2);
  static constexpr int kKinds = 16;

  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;      // 0 = free
    std::uint32_t eighth = 0;  // offset of the entry in the file / 8
  };

  Place* places() const { return reinterpret_cast<Place*>(memory_.data()); }
  bool Same(const Place& place, const Content& content) const;
  std::uint32_t Add(const Content& content, Place& place, std::uint32_t id);
  std::byte* Room(Bytes bytes);

  Chunks& chunks_;
  VirtualRange memory_;
  format::ChunkHeader* newest_ = nullptr;
  Bytes next_chunk_ = 32_KiB;
  std::uint32_t entries_ = 0;
  std::uint32_t last_id_[kKinds] = {};
};

template <typename T>
Dictionary::Part PartOf(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace cuheap
