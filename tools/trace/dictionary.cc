#include "tools/trace/dictionary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace cuheap::trace {
namespace {

// Copies a T from the front of the payload; false if it does not fit.
template <typename T>
bool Take(std::span<const std::byte>* payload, T* value) {
  if (payload->size() < sizeof(T)) return false;
  std::memcpy(value, payload->data(), sizeof(T));
  *payload = payload->subspan(sizeof(T));
  return true;
}

std::string Text(std::span<const std::byte> payload) {
  return std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
}

std::vector<std::uint8_t> Octets(std::span<const std::byte> payload) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(payload.data());
  return {begin, begin + payload.size()};
}

}  // namespace

std::uint64_t Dictionary::Add(const Chunk& chunk) {
  std::uint64_t damaged = 0;
  std::span<const std::byte> rest = chunk.payload;
  while (rest.size() >= sizeof(format::DictionaryEntry)) {
    format::DictionaryEntry entry;
    std::memcpy(&entry, rest.data(), sizeof(entry));
    if (entry.bytes == 0) break;
    if (entry.bytes < sizeof(entry) || entry.bytes % 8 != 0 ||
        entry.payload_bytes > entry.bytes - sizeof(entry)) {
      return damaged + 1;  // the size cannot be trusted, so the next entry cannot be found
    }
    if (entry.bytes > rest.size()) break;  // the cut goes through it
    if (!AddEntry(entry, rest.subspan(sizeof(entry), entry.payload_bytes))) ++damaged;
    rest = rest.subspan(entry.bytes);
  }
  return damaged;
}

bool Dictionary::AddEntry(const format::DictionaryEntry& entry,
                          std::span<const std::byte> payload) {
  const auto next_is = [&entry](const auto& entries) { return entry.id == entries.size() + 1; };
  std::uint32_t id = 0;
  switch (entry.kind) {
    case format::DictionaryKind::kString:
      if (!next_is(strings_)) return false;
      strings_.push_back(Text(payload));
      return true;
    case format::DictionaryKind::kModule:
      return next_is(modules_) && AddModule(payload);
    case format::DictionaryKind::kCode:
      return next_is(codes_) && AddCode(payload);
    case format::DictionaryKind::kSite:
      return next_is(sites_) && AddSite(payload);
    case format::DictionaryKind::kThread: {
      format::ThreadEntry thread;
      if (!next_is(threads_) || !Take(&payload, &thread)) return false;
      threads_.push_back({thread.tid, string(thread.name)});
      return true;
    }
    case format::DictionaryKind::kStream: {
      format::StreamEntry stream;
      if (!next_is(streams_) || !Take(&payload, &stream)) return false;
      streams_.push_back({stream.handle, stream.device});
      return true;
    }
    case format::DictionaryKind::kArena:
      if (!next_is(arenas_) || !Take(&payload, &id)) return false;
      arenas_.push_back(string(id));
      return true;
    case format::DictionaryKind::kHeap:
      if (!next_is(heaps_) || !Take(&payload, &id)) return false;
      heaps_.push_back(string(id));
      return true;
    case format::DictionaryKind::kTags:
      if (!next_is(tags_)) return false;
      tags_.emplace_back();
      while (Take(&payload, &id)) tags_.back().push_back(string(id));
      return true;
  }
  return true;  // a kind of a later minor version
}

bool Dictionary::AddModule(std::span<const std::byte> payload) {
  format::ModuleEntry entry;
  if (!Take(&payload, &entry) || entry.build_id_bytes > sizeof(entry.build_id)) return false;
  modules_.push_back({string(entry.path),
                      {entry.build_id, entry.build_id + entry.build_id_bytes},
                      entry.load_bias,
                      entry.map_begin,
                      entry.map_end});
  return true;
}

bool Dictionary::AddCode(std::span<const std::byte> payload) {
  format::CodeEntry entry;
  if (!Take(&payload, &entry) || entry.linetable_bytes > payload.size()) return false;
  codes_.push_back({string(entry.file), string(entry.function), entry.first_line,
                    Octets(payload.first(entry.linetable_bytes))});
  return true;
}

bool Dictionary::AddSite(std::span<const std::byte> payload) {
  format::SiteEntry entry;
  if (!Take(&payload, &entry) || entry.frame_count > payload.size() / sizeof(std::uint64_t))
    return false;
  Site site{entry.heap, entry.flags, entry.owner, entry.tags,
            std::vector<std::uint64_t>(entry.frame_count)};
  if (entry.frame_count > 0) {
    std::memcpy(site.frames.data(), payload.data(), entry.frame_count * sizeof(std::uint64_t));
  }
  sites_.push_back(std::move(site));
  return true;
}

std::string Dictionary::heap_name(format::Heap heap) const {
  const auto id = static_cast<std::uint32_t>(heap);
  constexpr auto kFirst = static_cast<std::uint32_t>(format::Heap::kFirstAnnounced);
  if (id >= kFirst && !At(heaps_, id - kFirst + 1).empty()) return At(heaps_, id - kFirst + 1);
  const char* name = FactsOf(heap).name;
  return name != nullptr ? name : fmt::format("heap {}", id);
}

HeapFacts FactsOf(format::Heap heap) {
  switch (heap) {
#define CUHEAP_HEAP(id, name, in_used, sees_requested, sees_waiting, sees_pool, what) \
  case format::Heap::k_##name:                                                        \
    return {#name, in_used, sees_requested, sees_waiting, sees_pool};
#include "allocator/ledger/heaps.def"
#undef CUHEAP_HEAP
    default:
      return {nullptr, true, true, false, false};
  }
}

}  // namespace cuheap::trace
