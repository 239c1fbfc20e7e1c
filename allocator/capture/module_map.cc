#include "allocator/capture/module_map.h"

#include <link.h>

#include <algorithm>

#include "allocator/capture/memory_probe.h"

namespace cuheap::capture {
namespace {

std::uint64_t FirstWord(std::uint64_t table) {
  return table != 0 && IsReadable(table) && IsReadable(table + 7) ? Load<std::uint64_t>(table) : 0;
}

Module FromProgramHeaders(const dl_phdr_info& info) {
  Module module;
  module.load_bias = info.dlpi_addr;
  module.map_begin = ~std::uint64_t{0};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& header = info.dlpi_phdr[i];
    const std::uint64_t address = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) module.unwind_table = address;
    if (header.p_type != PT_LOAD) continue;
    module.map_begin = std::min<std::uint64_t>(module.map_begin, address & ~(kPage - 1));
    module.map_end = std::max<std::uint64_t>(module.map_end, address + header.p_memsz);
  }
  return module;
}

// dl_iterate_phdr holds the loader lock, so the list is still; it names no link map, but hands out
// the very string of the one it means.
const link_map* FindLinkMap(const dl_phdr_info& info) {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next)
    if (map->l_addr == info.dlpi_addr && map->l_name == info.dlpi_name) return map;
  return nullptr;
}

}  // namespace

struct ModuleMap::Collector {
  Entry* entries;
  std::size_t count;

  static int Add(dl_phdr_info* info, std::size_t, void* context) {
    auto* const self = static_cast<Collector*>(context);
    Module module = FromProgramHeaders(*info);
    module.link_map = FindLinkMap(*info);
    if (module.map_end == 0 || module.link_map == nullptr) return 0;
    if (self->count == kMostModules) return 1;
    self->Insert(module);
    return 0;
  }

  // Kept sorted by address. The releases keep the stores behind the odd version.
  void Insert(const Module& module) {
    std::size_t at = count++;
    for (; at > 0 && entries[at - 1][0].load(std::memory_order_relaxed) > module.map_begin; --at)
      for (std::size_t word = 0; word < kWords; ++word)
        entries[at][word].store(entries[at - 1][word].load(std::memory_order_relaxed),
                                std::memory_order_release);
    const std::uint64_t words[kWords] = {
        module.map_begin,    module.map_end,
        module.load_bias,    reinterpret_cast<std::uint64_t>(module.link_map),
        module.unwind_table, FirstWord(module.unwind_table)};
    for (std::size_t word = 0; word < kWords; ++word)
      entries[at][word].store(words[word], std::memory_order_release);
  }
};

void ModuleMap::Refresh() {
  if (refreshing_.exchange(true, std::memory_order_acquire)) return;
  const std::uint64_t version = version_.load(std::memory_order_relaxed);
  const std::size_t next = (version / 2 + 1) % 2;
  const Bytes size(sizeof(Entry) * kMostModules);
  if (tables_[next].Reserve(size) && tables_[next].CommitUpTo(size)) {
    // Odd: readers of the table before last, if any are left, start over.
    version_.store(version + 1, std::memory_order_seq_cst);
    Collector collector{EntriesOf(tables_[next]), 0};
    dl_iterate_phdr(Collector::Add, &collector);
    counts_[next].store(collector.count, std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }
  refreshing_.store(false, std::memory_order_release);
}

bool ModuleMap::Find(std::uint64_t pc, Module* module) const {
  for (;;) {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    const std::size_t current = version / 2 % 2;
    Entry* const entries = EntriesOf(tables_[current]);
    std::size_t low = 0;
    for (std::size_t high = counts_[current].load(std::memory_order_relaxed); low < high;) {
      const std::size_t middle = (low + high) / 2;
      if (entries[middle][0].load(std::memory_order_relaxed) <= pc)
        low = middle + 1;
      else
        high = middle;
    }
    std::uint64_t found[kWords] = {};
    for (std::size_t word = 0; low > 0 && word < kWords; ++word)
      found[word] = entries[low - 1][word].load(std::memory_order_acquire);
    // The table read from is rewritten only by the refresh after the next one.
    if (version_.load(std::memory_order_relaxed) > (version | 1) + 1) continue;
    if (pc >= found[1] || FirstWord(found[4]) != found[5]) return false;
    *module = {found[0], found[1], found[2], reinterpret_cast<const void*>(found[3]), found[4]};
    return true;
  }
}

}  // namespace cuheap::capture
