// Objects of one type at places that never move, numbered from 1, in private memory that grows in
// place: bounded, never from malloc. Emptied places are used again, the latest first.
//
// Threads: none of its own; callers lock. A number that a thread was told of may be looked up
// without the lock as long as its object lives.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "allocator/base/virtual_range.h"

namespace cuheap {

template <class Object>
class ObjectTable {
 public:
  explicit constexpr ObjectTable(std::uint32_t most) : most_(most) {}
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  // 0: all places are taken, or the kernel gives no memory.
  template <class... Arguments>
  std::uint32_t Make(Arguments&&... arguments) {
    const std::uint32_t number = free_ != 0 ? free_ : NewPlace();
    if (number == 0) return 0;
    Place& place = places()[number];
    if (number == free_) free_ = place.next_free;
    new (place.memory) Object(std::forward<Arguments>(arguments)...);
    place.taken = true;
    return number;
  }

  // REQUIRES: `number` is taken.
  void Destroy(std::uint32_t number) {
    (*this)[number].~Object();
    places()[number].taken = false;
    places()[number].next_free = free_;
    free_ = number;
  }

  // REQUIRES: `number` is taken.
  Object& operator[](std::uint32_t number) const {
    return *std::launder(reinterpret_cast<Object*>(places()[number].memory));
  }

  // visit(number, Object&), by number; it may destroy that object.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (std::uint32_t number = 1; number <= used_; ++number)
      if (places()[number].taken) visit(number, (*this)[number]);
  }

  // The first number whose object is so; 0: none.
  template <class Is>
  std::uint32_t FirstThat(Is&& is) const {
    for (std::uint32_t number = 1; number <= used_; ++number)
      if (places()[number].taken && is((*this)[number])) return number;
    return 0;
  }

  // Destroys what is left and gives the memory back; the table is as new.
  void Clear() {
    ForEach([](std::uint32_t, Object& object) { object.~Object(); });
    range_.Release();
    used_ = free_ = 0;
  }

 private:
  struct Place {
    alignas(Object) std::byte memory[sizeof(Object)];
    std::uint32_t next_free;
    bool taken;
  };

  Place* places() const { return reinterpret_cast<Place*>(range_.data()); }

  std::uint32_t NewPlace() {
    if (used_ >= most_) return 0;
    if (range_.data() == nullptr &&
        !range_.Reserve(Bytes((std::uint64_t{most_} + 1) * sizeof(Place))))
      return 0;
    if (!range_.CommitUpTo(Bytes((std::uint64_t{used_} + 2) * sizeof(Place)))) return 0;
    return ++used_;
  }

  std::uint32_t most_;
  std::uint32_t used_ = 0;  // places that were ever taken
  std::uint32_t free_ = 0;  // chained through the empty places
  VirtualRange range_;
};

}  // namespace cuheap
