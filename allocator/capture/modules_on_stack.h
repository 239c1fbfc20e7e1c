// The modules that one walk has met, and the numbers of their instances. While their functions are
// on the stack they stay loaded, so what was found out about them holds to the end of the walk.
// For one walk, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator/capture/module_instances.h"
#include "allocator/capture/modules.h"

namespace cuheap::capture {

class ModulesOnStack {
 public:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t size;
    ModuleInstance instance;

    bool Holds(std::uint64_t pc) const { return pc - begin < size; }
  };

  ModulesOnStack() { entries_[0] = {}; }  // the others are written before they are read

  // nullptr where `pc` belongs to no module.
  const Entry* Find(std::uint64_t pc) {
    if (!current_->Holds(pc)) Change(pc);
    return current_->Holds(pc) ? current_ : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 8;

  [[gnu::noinline]] void Change(std::uint64_t pc) {
    for (current_ = entries_; current_ < entries_ + count_; ++current_)
      if (current_->Holds(pc)) return;
    if (count_ == kMost) current_ = &entries_[next_++ % kMost];
    *current_ = {};
    Module module;
    if (!FindModule(pc, &module)) return;
    *current_ = {module.map_begin, module.map_end - module.map_begin, NumberModule(module)};
    if (count_ < kMost) ++count_;
  }

  Entry entries_[kMost];
  Entry* current_ = entries_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace cuheap::capture
