#include "allocator/ledger/dictionary.h"

#include <algorithm>
#include <cstring>

#include "allocator/base/fold.h"

namespace cuheap {
namespace {

using format::DictionaryEntry;
using format::DictionaryKind;

constexpr Bytes kLargestChunk = 128_KiB;

// Sixteen bytes a step.
std::uint64_t Mix(std::uint64_t hash, Dictionary::Part part) {
  constexpr std::uint64_t kSecret = 0x9e3779b97f4a7c15u;
  const std::byte* data = part.data();
  std::size_t size = part.size();
  for (; size >= 16; data += 16, size -= 16) {
    std::uint64_t words[2];
    std::memcpy(words, data, 16);
    hash = Fold(words[0] ^ kSecret, words[1] ^ hash);
  }
  std::uint64_t rest[2] = {};
  if (size != 0) std::memcpy(rest, data, size);
  return Fold(rest[0] ^ kSecret ^ (std::uint64_t{part.size()} << 32), rest[1] ^ hash ^ kSecret);
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

Dictionary::Content::Content(DictionaryKind what, Part head, Part tail)
    : kind(what),
      first(head),
      second(tail),
      hash(Mix(Mix(static_cast<std::uint64_t>(what) + 1, head), tail)) {}

bool Dictionary::Same(const Place& place, const Content& content) const {
  const std::byte* data = chunks_.file_data() + std::uint64_t{place.eighth} * 8;
  const auto* entry = reinterpret_cast<const DictionaryEntry*>(data);
  if (entry->kind != content.kind ||
      entry->payload_bytes != content.first.size() + content.second.size())
    return false;
  data += sizeof(DictionaryEntry);
  return SameBytes(data, content.first) && SameBytes(data + content.first.size(), content.second);
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

std::uint32_t Dictionary::Intern(const Content& content, std::uint32_t largest) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kPlaceBits) - 1;
  std::uint64_t index = content.hash >> (64 - kPlaceBits);
  for (; places()[index].id != 0; index = (index + 1) & kMask) {
    const Place& place = places()[index];
    if (place.hash == content.hash && Same(place, content)) return place.id;
  }
  std::uint32_t& last = last_id_[static_cast<int>(content.kind)];
  if (last >= largest) return 0;
  const std::uint32_t id = Add(content, places()[index], last + 1);
  if (id == 0) {
    chunks_.header()->dropped.dictionary.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  last = id;
  return id;
}

std::uint32_t Dictionary::Add(const Content& content, Place& place, std::uint32_t id) {
  DictionaryEntry entry{};
  entry.kind = content.kind;
  entry.id = id;
  entry.payload_bytes = static_cast<std::uint32_t>(content.first.size() + content.second.size());
  const Bytes bytes = Bytes(sizeof entry + entry.payload_bytes).RoundedUpTo(8_B);
  entry.bytes = static_cast<std::uint32_t>(bytes.count());
  std::byte* data = entries_ < kMostEntries ? Room(bytes) : nullptr;
  if (data == nullptr) return 0;
  Copy(data, PartOf(entry));
  Copy(data + sizeof entry, content.first);
  Copy(data + sizeof entry + content.first.size(), content.second);
  newest_->committed.fetch_add(bytes.count(), std::memory_order_release);
  place = {content.hash, id, static_cast<std::uint32_t>((data - chunks_.file_data()) / 8)};
  ++entries_;
  return id;
}

}  // namespace cuheap
