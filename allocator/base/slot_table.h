// Numbered slots for records of one type, in private memory that grows in place: bounded, never
// moved, never from malloc. Emptied slots are used again, the latest first.
//
// Threads: none of its own; callers lock. Number 0 is no slot.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "allocator/base/virtual_range.h"

namespace cuheap {

using SlotId = std::uint32_t;

template <class Record>
class SlotTable {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  explicit constexpr SlotTable(std::uint32_t most) : most_(most) {}

  // 0: all slots are taken, or the kernel gives no memory.
  SlotId Add(const Record& record) {
    const SlotId id = free_ != 0 ? free_ : NewSlot();
    if (id == 0) return 0;
    if (id == free_) std::memcpy(&free_, &(*this)[id], sizeof free_);
    (*this)[id] = record;
    ++taken_;
    return id;
  }

  // REQUIRES: `id` is taken.
  void Remove(SlotId id) {
    static_assert(sizeof(Record) >= sizeof free_, "an empty slot names the next one");
    std::memcpy(static_cast<void*>(&(*this)[id]), &free_, sizeof free_);
    free_ = id;
    --taken_;
  }

  // REQUIRES: `id` is taken.
  Record& operator[](SlotId id) { return slots()[id]; }
  const Record& operator[](SlotId id) const { return slots()[id]; }

  std::uint32_t taken() const { return taken_; }
  // The highest number that was ever taken.
  SlotId last() const { return used_; }

  // Gives the memory back. The table is as new.
  void Release() {
    range_.Release();
    taken_ = used_ = free_ = 0;
  }

 private:
  Record* slots() const { return reinterpret_cast<Record*>(range_.data()); }

  SlotId NewSlot() {
    if (used_ >= most_) return 0;
    if (range_.data() == nullptr &&
        !range_.Reserve(Bytes((std::uint64_t{most_} + 1) * sizeof(Record))))
      return 0;
    if (!range_.CommitUpTo(Bytes((std::uint64_t{used_} + 2) * sizeof(Record)))) return 0;
    return ++used_;
  }

  std::uint32_t most_;
  std::uint32_t taken_ = 0;
  std::uint32_t used_ = 0;  // slots that were ever taken
  SlotId free_ = 0;         // chained through the empty slots
  VirtualRange range_;
};

}  // namespace cuheap
