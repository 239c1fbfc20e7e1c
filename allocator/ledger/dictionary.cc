#include "allocator/ledger/dictionary.h"

#include <algorithm>
#include <cstring>

namespace cuheap {
namespace {

using format::DictionaryEntry;
using format::DictionaryKind;

constexpr Bytes kLargestChunk = 128_KiB;

// Eight bytes at a time, multiply and fold: content of a few hundred bytes, no adversary.
std::uint64_t Mix(std::uint64_t hash, Dictionary::Part part) {
  const std::byte* data = part.data();
  std::size_t size = part.size();
  while (size >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    data += 8;
    size -= 8;
  }
  std::uint64_t rest = size;
  for (std::size_t i = 0; i < size; ++i) rest = (rest << 8) | static_cast<std::uint64_t>(data[i]);
  hash = (hash ^ rest) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

bool SameBytes(const std::byte* data, Dictionary::Part part) {
  return part.empty() || std::memcmp(data, part.data(), part.size()) == 0;
}

void Copy(std::byte* data, Dictionary::Part part) {
  if (!part.empty()) std::memcpy(data, part.data(), part.size());
}

}  // namespace

bool Dictionary::Start() {
  const Bytes whole(sizeof(Place) << kPlaceBits);
  return memory_.Reserve(whole) && memory_.CommitUpTo(whole);
}

bool Dictionary::Same(const Place& place, DictionaryKind kind, Part first, Part second) const {
  const std::byte* data = chunks_.file_data() + std::uint64_t{place.eighth} * 8;
  const auto* entry = reinterpret_cast<const DictionaryEntry*>(data);
  if (entry->kind != kind || entry->payload_bytes != first.size() + second.size()) return false;
  data += sizeof(DictionaryEntry);
  return SameBytes(data, first) && SameBytes(data + first.size(), second);
}

std::byte* Dictionary::Room(Bytes bytes) {
  if (newest_ != nullptr) {
    const Bytes used(newest_->committed.load(std::memory_order_relaxed));
    if (used + bytes <= Chunks::PayloadBytes(newest_))
      return Chunks::Payload(newest_) + used.count();
  }
  const Bytes payload = std::max(bytes, next_chunk_ - Bytes(sizeof(format::ChunkHeader)));
  format::ChunkHeader* chunk = chunks_.Append(format::ChunkType::kDictionary, 0, payload);
  if (chunk == nullptr) return nullptr;
  newest_ = chunk;
  next_chunk_ = std::min(next_chunk_ + next_chunk_, kLargestChunk);
  return Chunks::Payload(chunk);
}

std::uint32_t Dictionary::Intern(DictionaryKind kind, Part first, Part second,
                                 std::uint32_t largest, bool* made) {
  if (made != nullptr) *made = false;
  const std::uint64_t hash = Mix(Mix(static_cast<std::uint64_t>(kind) + 1, first), second);
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kPlaceBits) - 1;
  std::uint64_t index = hash >> (64 - kPlaceBits);
  for (; places()[index].id != 0; index = (index + 1) & kMask) {
    const Place& place = places()[index];
    if (place.hash == hash && Same(place, kind, first, second)) return place.id;
  }
  const Bytes bytes =
      Bytes(sizeof(DictionaryEntry) + first.size() + second.size()).RoundedUpTo(8_B);
  std::uint32_t& last = last_id_[static_cast<int>(kind)];
  if (last >= largest) return 0;
  std::byte* data = entries_ < kMostEntries ? Room(bytes) : nullptr;
  if (data == nullptr) {
    chunks_.header()->dropped.dictionary.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  const std::uint32_t id = ++last;
  DictionaryEntry entry{};
  entry.bytes = static_cast<std::uint32_t>(bytes.count());
  entry.kind = kind;
  entry.id = id;
  entry.payload_bytes = static_cast<std::uint32_t>(first.size() + second.size());
  Copy(data, PartOf(entry));
  Copy(data + sizeof entry, first);
  Copy(data + sizeof entry + first.size(), second);
  newest_->committed.fetch_add(bytes.count(), std::memory_order_release);
  places()[index] = {hash, id, static_cast<std::uint32_t>((data - chunks_.file_data()) / 8)};
  ++entries_;
  if (made != nullptr) *made = true;
  return id;
}

}  // namespace cuheap
