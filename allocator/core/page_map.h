// Which physical pages lie behind a virtual range: whole mappings, each of one handle. A handle
// is some pages that were created together, and is mapped in one place at most.
//
// Laws: 1. A handle's pages lie side by side, and are mapped and unmapped together.
//       2. The pages that are mapped are counted.
// Pure: handles are numbers here. Threads: none of its own; callers lock.
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/virtual_range.h"

namespace cuheap::core {

enum class HandleId : std::uint32_t { kNone = 0 };

struct Mapping {
  HandleId handle = HandleId::kNone;  // kNone: nothing is mapped there
  std::uint32_t first = 0;            // page of the range
  std::uint32_t pages = 0;

  std::uint32_t end() const { return first + pages; }
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

class PageMap {
 public:
  // REQUIRES: `begin` is a multiple of `page`, a power of two.
  PageMap(std::uint64_t begin, std::uint32_t pages, Bytes page)
      : begin_(begin), pages_(pages), page_(page) {}

  // False: the kernel gives no memory; then nothing changed.
  // REQUIRES: nothing is mapped there, and the handle nowhere in this range.
  [[nodiscard]] bool Map(const Mapping& mapping);
  // REQUIRES: that mapping.
  void Unmap(const Mapping& mapping);
  // The whole mapping that a page belongs to.
  Mapping At(std::uint32_t page) const;

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return AddressOf(pages_); }
  std::uint32_t pages() const { return pages_; }
  Bytes page() const { return page_; }
  std::uint32_t mapped_pages() const { return mapped_pages_; }

  std::uint64_t AddressOf(std::uint32_t page) const { return begin_ + page * page_.count(); }
  // Of the page that contains an address, and of the first page that begins at one or behind it.
  std::uint32_t PageOf(std::uint64_t address) const { return Count(address - begin_); }
  std::uint32_t PageFrom(std::uint64_t address) const {
    return Count(address - begin_ + page_.count() - 1);
  }

  // Nullptr, or the first law that does not hold.
  const char* FirstBrokenLaw() const;

 private:
  std::uint32_t Count(std::uint64_t bytes) const {
    return static_cast<std::uint32_t>(bytes / page_.count());
  }
  HandleId HandleAt(std::uint32_t page) const;
  HandleId* table() const { return reinterpret_cast<HandleId*>(table_.data()); }

  std::uint64_t begin_;
  std::uint32_t pages_;
  Bytes page_;
  std::uint32_t mapped_pages_ = 0;
  VirtualRange table_;  // a HandleId for each page, as far as pages were ever mapped
};

}  // namespace cuheap::core
