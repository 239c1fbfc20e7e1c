// Strings, modules, code objects and sites, by content.
#include <algorithm>

#include "allocator/ledger/ledger_state.h"

namespace cuheap {

using format::DictionaryKind;

namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestLineTable = 65536;
constexpr std::size_t kMostFrames = 4096;
constexpr std::uint32_t kMostModules = 0x3fffff;  // a native frame has 22 bits for it
constexpr std::uint32_t kMostCode = 0x3fffffff;   // a Python frame 30

}  // namespace

std::uint32_t Ledger::Impl::InternText(std::string_view text) {
  const auto part = std::as_bytes(std::span(text.data(), std::min(text.size(), kLongestText)));
  return dictionary.Intern({DictionaryKind::kString, part});
}

std::uint32_t Ledger::InternString(std::string_view text) {
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  return section ? section->InternText(text) : 0;
}

std::uint32_t Ledger::InternModule(std::string_view path, std::span<const std::uint8_t> build_id,
                                   std::uint64_t load_bias, std::uint64_t map_begin,
                                   std::uint64_t map_end) {
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  if (!section) return 0;
  format::ModuleEntry entry{};
  entry.load_bias = load_bias;
  entry.map_begin = map_begin;
  entry.map_end = map_end;
  entry.path = section->InternText(path);
  entry.build_id_bytes =
      static_cast<std::uint8_t>(std::min(build_id.size(), sizeof entry.build_id));
  std::copy_n(build_id.begin(), entry.build_id_bytes, entry.build_id);
  return section->dictionary.Intern({DictionaryKind::kModule, PartOf(entry)}, kMostModules);
}

std::uint32_t Ledger::InternCode(std::string_view file, std::string_view function,
                                 std::int32_t first_line, std::span<const std::uint8_t> linetable) {
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  if (!section) return 0;
  format::CodeEntry entry{};
  entry.file = section->InternText(file);
  entry.function = section->InternText(function);
  entry.first_line = first_line;
  if (linetable.size() <= kLongestLineTable)
    entry.linetable_bytes = static_cast<std::uint32_t>(linetable.size());
  const auto lines = std::as_bytes(linetable.first(entry.linetable_bytes));
  return section->dictionary.Intern({DictionaryKind::kCode, PartOf(entry), lines}, kMostCode);
}

SiteId Ledger::InternSite(format::Heap heap, std::uint32_t owner_module, std::uint32_t tags,
                          std::uint8_t flags, std::span<const std::uint64_t> frames) {
  frames = frames.first(std::min(frames.size(), kMostFrames));
  format::SiteEntry entry{};
  entry.heap = heap;
  entry.flags = flags;
  entry.frame_count = static_cast<std::uint16_t>(frames.size());
  entry.owner = owner_module;
  entry.tags = tags;
  const Dictionary::Content content(DictionaryKind::kSite, PartOf(entry), std::as_bytes(frames));
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  if (!section) return SiteId::kUnknown;
  const std::uint32_t id = section->dictionary.Intern(content, section->max_sites);
  if (id != 0) return SiteId(id);
  section->header().dropped.sites.fetch_add(1, std::memory_order_relaxed);
  const auto leaf = frames.first(std::min<std::size_t>(frames.size(), 1));
  entry.flags |= format::kSiteOverflow;
  entry.frame_count = static_cast<std::uint16_t>(leaf.size());
  entry.tags = 0;
  return SiteId(
      section->dictionary.Intern({DictionaryKind::kSite, PartOf(entry), std::as_bytes(leaf)},
                                 section->max_sites + Impl::kOverflowSites));
}

}  // namespace cuheap
