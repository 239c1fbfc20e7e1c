// Unwind rules by address, shared by all threads, without locks: a fixed table whose entries are
// two words, (key ^ rule) and rule. An entry that two threads wrote at once gives a key that nobody
// asks for, so a torn entry is a miss and never a wrong rule.
//
// Laws
//   1. A rule is found only under the module instance it was stored for.
//   2. Nothing is ever freed; a new rule takes the place of an old one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "allocator/capture/module_instances.h"

namespace cuheap::capture {

class RuleCache {
 public:
  constexpr RuleCache() = default;

  // The packed rule (UnwindRule::Pack); 0 when it is not there.
  std::uint64_t Find(std::uint64_t pc, ModuleInstance module) const {
    const std::uint64_t key = KeyOf(pc, module);
    const std::size_t index = IndexOf(pc);
    const std::uint64_t first = entries_[index].RuleFor(key);
    return first != 0 ? first : entries_[index ^ 1].RuleFor(key);
  }

  void Store(std::uint64_t pc, ModuleInstance module, std::uint64_t rule) {
    const std::uint64_t key = KeyOf(pc, module);
    if (key == kNoKey) return;
    const std::size_t index = IndexOf(pc);
    const bool taken = entries_[index].rule.load(std::memory_order_relaxed) != 0;
    Entry& entry = entries_[taken ? index ^ 1 : index];
    entry.rule.store(rule, std::memory_order_relaxed);
    entry.mixed.store(key ^ rule, std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> mixed{0};
    std::atomic<std::uint64_t> rule{0};

    // An empty entry answers 0 to any key.
    std::uint64_t RuleFor(std::uint64_t key) const {
      const std::uint64_t found = rule.load(std::memory_order_relaxed);
      return (mixed.load(std::memory_order_relaxed) ^ found) == key ? found : 0;
    }
  };

  static constexpr int kIndexBits = 13;
  // Addresses of programs have 47 bits; what is left holds the module. Outside of that: no key.
  static constexpr int kModuleBits = 17;
  static constexpr std::uint64_t kNoKey = 0;

  static std::uint64_t KeyOf(std::uint64_t pc, ModuleInstance module) {
    const auto number = static_cast<std::uint64_t>(module);
    if (number == 0 || pc >> (64 - kModuleBits) != 0) return kNoKey;
    return pc << kModuleBits | number;
  }
  // The low bits of addresses are as good as random; a multiplication would cost more than it
  // saves.
  static std::size_t IndexOf(std::uint64_t pc) {
    return (pc ^ pc >> kIndexBits) & ((std::size_t{1} << kIndexBits) - 1);
  }

  alignas(64) Entry entries_[std::size_t{1} << kIndexBits];
};

extern RuleCache rule_cache;

}  // namespace cuheap::capture
