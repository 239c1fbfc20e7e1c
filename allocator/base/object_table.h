// Objects of one type at places that never move, numbered from 1, in private memory that grows in
// place: bounded, never from malloc. Emptied places are used again, the latest first.
//
// Threads: none of its own; callers lock. A number that a thread was told of may be looked up
// without the lock as long as its object lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "allocator/base/slot_table.h"

namespace cuheap {

template <class Object>
class ObjectTable {
 public:
  explicit constexpr ObjectTable(std::uint32_t most) : places_(most) {}
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  // 0: all places are taken, or the kernel gives no memory.
  template <class... Arguments>
  SlotId Make(Arguments&&... arguments) {
    const SlotId number = places_.Add({});
    if (number == 0) return 0;
    new (places_[number].memory) Object(std::forward<Arguments>(arguments)...);
    places_[number].taken = true;
    return number;
  }

  // REQUIRES: `number` is taken.
  void Destroy(SlotId number) {
    (*this)[number].~Object();
    places_[number].taken = false;
    places_.Remove(number);
  }

  // REQUIRES: `number` is taken.
  Object& operator[](SlotId number) { return ObjectAt(places_[number]); }

  // visit(number, Object&), by number; it may destroy that object.
  template <class Visit>
  void ForEach(Visit&& visit) {
    for (SlotId number = 1; number <= places_.last(); ++number)
      if (places_[number].taken) visit(number, (*this)[number]);
  }
  template <class Visit>  // visit(number, const Object&)
  void ForEach(Visit&& visit) const {
    for (SlotId number = 1; number <= places_.last(); ++number)
      if (places_[number].taken) visit(number, ObjectAt(places_[number]));
  }

  // The first number whose object is so; 0: none.
  template <class Is>
  SlotId FirstThat(Is&& is) {
    for (SlotId number = 1; number <= places_.last(); ++number)
      if (places_[number].taken && is((*this)[number])) return number;
    return 0;
  }

  // Destroys what is left and gives the memory back; the table is as new.
  void Clear() {
    ForEach([](SlotId, Object& object) { object.~Object(); });
    places_.Release();
  }

 private:
  struct Place {
    SlotId next_free;  // the table's, in an empty place: `taken` stays readable
    bool taken;
    alignas(Object) std::byte memory[sizeof(Object)];
  };

  static Object& ObjectAt(Place& place) {
    return *std::launder(reinterpret_cast<Object*>(place.memory));
  }
  static const Object& ObjectAt(const Place& place) {
    return *std::launder(reinterpret_cast<const Object*>(place.memory));
  }

  SlotTable<Place> places_;
};

}  // namespace cuheap
