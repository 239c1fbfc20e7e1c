// A bounded hash map from non-zero words to small values, in a private range: no malloc, entries by
// open addressing. Not for several threads: the owner locks.
#pragma once

#include <cstdint>
#include <cstring>

#include "allocator/base/bytes.h"
#include "allocator/base/virtual_range.h"

namespace cuheap {

// Spreads a word's entropy over all bits; a bijection.
constexpr std::uint64_t Scramble(std::uint64_t word) {
  word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93u;
  word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93u;
  return word ^ (word >> 32);
}

template <typename Value>
class WordMap {
 public:
  // `places`: a power of two; three quarters of them can be filled.
  explicit constexpr WordMap(std::uint64_t places) : places_(places) {}

  // nullptr when the key is not there.
  Value* Find(std::uint64_t key) {
    if (entries_ == nullptr) return nullptr;
    Entry* entry = Place(key);
    return entry->key == key ? &entry->value : nullptr;
  }

  // The value of the key, made (zero) if it is new. nullptr when the map is full or there is no
  // memory.
  Value* FindOrInsert(std::uint64_t key) {
    if (entries_ == nullptr && !Allocate()) return nullptr;
    Entry* entry = Place(key);
    if (entry->key == key) return &entry->value;
    if (count_ >= places_ / 4 * 3) return nullptr;
    ++count_;
    entry->key = key;
    entry->value = Value();
    return &entry->value;
  }

  bool Erase(std::uint64_t key) {
    if (entries_ == nullptr) return false;
    Entry* hole = Place(key);
    if (hole->key != key) return false;
    // What follows moves up, so that no search ends early at the hole.
    for (Entry* next = Next(hole); next->key != 0; next = Next(next)) {
      const std::uint64_t home = Scramble(next->key) & (places_ - 1);
      const std::uint64_t at = static_cast<std::uint64_t>(next - entries_);
      const std::uint64_t gap = static_cast<std::uint64_t>(hole - entries_);
      if (((at - home) & (places_ - 1)) < ((at - gap) & (places_ - 1))) continue;
      *hole = *next;
      hole = next;
    }
    hole->key = 0;
    --count_;
    return true;
  }

  void Clear() {
    if (entries_ != nullptr) std::memset(static_cast<void*>(entries_), 0, places_ * sizeof(Entry));
    count_ = 0;
  }

  // Visits every entry until `visit` returns true; whether one did.
  template <typename Visit>
  bool AnyOf(Visit visit) {
    for (std::uint64_t i = 0; entries_ != nullptr && i < places_; ++i)
      if (entries_[i].key != 0 && visit(entries_[i].key, &entries_[i].value)) return true;
    return false;
  }

  std::uint64_t size() const { return count_; }

 private:
  struct Entry {
    std::uint64_t key;
    Value value;
  };

  bool Allocate() {
    const Bytes bytes(places_ * sizeof(Entry));
    if (!range_.Reserve(bytes) || !range_.CommitUpTo(bytes)) return false;
    entries_ = reinterpret_cast<Entry*>(range_.data());
    return true;
  }
  Entry* Next(Entry* entry) { return ++entry == entries_ + places_ ? entries_ : entry; }
  Entry* Place(std::uint64_t key) {
    Entry* entry = &entries_[Scramble(key) & (places_ - 1)];
    while (entry->key != 0 && entry->key != key) entry = Next(entry);
    return entry;
  }

  std::uint64_t places_;
  std::uint64_t count_ = 0;
  VirtualRange range_;
  Entry* entries_ = nullptr;
};

}  // namespace cuheap
