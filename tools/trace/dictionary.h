// Names of things: what the ids in records mean. Every accessor accepts any id; unknown ones give
// empty entries.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/ledger/format.h"
#include "tools/trace/chunks.h"

namespace cuheap::trace {

struct Module {
  std::string path;
  std::vector<std::uint8_t> build_id;
  std::uint64_t load_bias = 0;
  std::uint64_t map_begin = 0;
  std::uint64_t map_end = 0;
};

struct Code {
  std::string file;
  std::string function;
  std::int32_t first_line = 0;
  std::vector<std::uint8_t> line_table;
};

struct Site {
  format::Heap heap{};
  std::uint8_t flags = 0;  // format::SiteFlags
  std::uint32_t owner = 0;
  std::uint32_t tags = 0;
  std::vector<std::uint64_t> frames;  // as in format.h, innermost first
};

struct Thread {
  std::uint32_t tid = 0;
  std::string name;
};

struct Stream {
  std::uint64_t handle = 0;
  std::uint32_t device = 0;
};

class Dictionary {
 public:
  // Reads the entries of one chunk; chunks come in file order. Returns how many entries made no
  // sense.
  std::uint64_t Add(const Chunk& chunk);

  const std::string& string(std::uint32_t id) const { return At(strings_, id); }
  const Module& module(std::uint32_t id) const { return At(modules_, id); }
  const Code& code(std::uint32_t id) const { return At(codes_, id); }
  const Site& site(std::uint32_t id) const { return At(sites_, id); }
  const Thread& thread(std::uint32_t id) const { return At(threads_, id); }
  const Stream& stream(std::uint32_t id) const { return At(streams_, id); }
  const std::string& arena(std::uint32_t id) const { return At(arenas_, id); }
  const std::vector<std::string>& tags(std::uint32_t id) const {
    return At(tags_, id);
  }  // outermost first
  // The word for a heap: the table's, or the one that the program announced.
  std::string heap_name(format::Heap heap) const;

  std::uint32_t site_count() const { return static_cast<std::uint32_t>(sites_.size()); }
  std::uint32_t string_count() const { return static_cast<std::uint32_t>(strings_.size()); }
  std::uint32_t module_count() const { return static_cast<std::uint32_t>(modules_.size()); }
  std::uint32_t code_count() const { return static_cast<std::uint32_t>(codes_.size()); }
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(threads_.size()); }
  std::uint32_t stream_count() const { return static_cast<std::uint32_t>(streams_.size()); }

 private:
  template <typename T>
  static const T& At(const std::vector<T>& entries, std::uint32_t id) {
    static const T none{};
    return id == 0 || id > entries.size() ? none : entries[id - 1];
  }
  bool AddEntry(const format::DictionaryEntry& entry, std::span<const std::byte> payload);
  bool AddModule(std::span<const std::byte> payload);
  bool AddCode(std::span<const std::byte> payload);
  bool AddSite(std::span<const std::byte> payload);

  std::vector<std::string> strings_;
  std::vector<Module> modules_;
  std::vector<Code> codes_;
  std::vector<Site> sites_;
  std::vector<Thread> threads_;
  std::vector<Stream> streams_;
  std::vector<std::string> arenas_;
  std::vector<std::string> heaps_;
  std::vector<std::vector<std::string>> tags_;
};

// What the table of heaps says; announced heaps see requests and nothing else.
struct HeapFacts {
  const char* name;
  bool in_used;
  bool sees_requested;
  bool sees_waiting;
  bool sees_pool;
};
HeapFacts FactsOf(format::Heap heap);

}  // namespace cuheap::trace
