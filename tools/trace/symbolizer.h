// Names for native addresses, long after the process is gone: by the module's path, checked by its
// build-id. DWARF gives function, file and line with inlined calls; without it the symbol table
// gives a name and an offset. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/trace/dictionary.h"

namespace cuheap::trace {

struct Frame {
  std::string function;
  std::string file;       // source file; the module where no source is known
  std::int32_t line = 0;  // 0 = unknown
  bool python = false;
  bool operator==(const Frame&) const = default;
};

class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();

  // The calls at `offset` of the module, the innermost inlined one first. Never empty:
  // "libfoo.so+0x12" if nothing is known.
  std::vector<Frame> Resolve(const Module& module, std::uint64_t offset);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cuheap::trace
