// Reads a pickle of plain values (protocols 2 to 5): none, booleans, numbers, strings, bytes,
// lists, tuples, sets and dictionaries. A pickle is a program; this machine has no instruction that
// could name, call or build anything, and refuses the file that has one.
//
// Laws: 1. Whatever the bytes, reading ends with values or an error that names the offset.
//       2. Time and memory are in proportion to the length of the pickle; nothing recurses.
//       3. Views are into the pickle, which must outlive the values.
// A list may contain itself: who follows values goes a known path.
// Threads: none of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/trace/result.h"

namespace cuheap::replay {

enum class PickleKind : std::uint8_t {
  kNone,
  kBoolean,
  kInteger,
  kBigInteger,  // beyond 64 bits; its value is not kept
  kFloat,
  kText,
  kBytes,
  kSequence,    // list, tuple or set
  kDictionary,  // keys and values by turns
};

class Pickle {
 public:
  using Handle = std::uint32_t;

  static Result<Pickle> Read(std::string_view bytes);

  Handle root() const { return root_; }
  PickleKind kind(Handle value) const { return values_[value].kind; }

  // No value: it is of another kind. Integers of 64 bits without sign come as they are.
  std::optional<std::uint64_t> Integer(Handle value) const;
  std::optional<std::string_view> Text(Handle value) const;
  // Empty for what is no sequence (no dictionary).
  const std::vector<Handle>& Items(Handle sequence) const;
  // Of the last entry with that key.
  std::optional<Handle> Find(Handle dictionary, std::string_view key) const;

 private:
  friend class PickleMachine;

  struct Value {
    PickleKind kind{};
    std::uint32_t container = 0;
    std::uint64_t integer = 0;
    std::string_view text{};
  };

  std::vector<Value> values_;
  std::vector<std::vector<Handle>> containers_;
  Handle root_ = 0;
};

}  // namespace cuheap::replay
