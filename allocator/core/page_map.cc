#include "allocator/core/page_map.h"

#include <algorithm>

namespace cuheap::core {

bool PageMap::Map(const Mapping& mapping) {
  if (table_.data() == nullptr && !table_.Reserve(Bytes(pages_ * sizeof(HandleId)))) return false;
  if (!table_.CommitUpTo(Bytes(mapping.end() * sizeof(HandleId)))) return false;
  std::fill(table() + mapping.first, table() + mapping.end(), mapping.handle);
  mapped_pages_ += mapping.pages;
  return true;
}

void PageMap::Unmap(const Mapping& mapping) {
  std::fill(table() + mapping.first, table() + mapping.end(), HandleId::kNone);
  mapped_pages_ -= mapping.pages;
}

Mapping PageMap::At(std::uint32_t page) const {
  const HandleId handle = HandleAt(page);
  if (handle == HandleId::kNone) return {};
  std::uint32_t first = page;
  while (first > 0 && HandleAt(first - 1) == handle) --first;
  std::uint32_t end = page + 1;
  while (end < pages_ && HandleAt(end) == handle) ++end;
  return {handle, first, end - first};
}

HandleId PageMap::HandleAt(std::uint32_t page) const {
  const bool known = page < table_.committed().count() / sizeof(HandleId);
  return known ? table()[page] : HandleId::kNone;
}

const char* PageMap::FirstBrokenLaw() const {
  std::uint32_t mapped = 0;
  for (std::uint32_t page = 0; page < pages_; ++page) {
    const HandleId handle = HandleAt(page);
    if (handle == HandleId::kNone) continue;
    ++mapped;
    if (page > 0 && HandleAt(page - 1) == handle) continue;
    for (std::uint32_t other = At(page).end(); other < pages_; ++other)
      if (HandleAt(other) == handle) return "law 1: a handle's pages lie side by side";
  }
  return mapped == mapped_pages_ ? nullptr : "law 2: mapped pages are counted";
}

}  // namespace cuheap::core
