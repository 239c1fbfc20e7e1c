// The real functions behind ours: found once, with the loader, never while a lock of torch's is
// held if a safe point came before.
//
// Laws
//   1. The real function is never ours.
//   2. A function that does not exist stays missing: the caller gets "symbol not found".
//   3. What a look-up of the program's returned is used as it is; the first answer stays.
#pragma once

#include <atomic>

#include "hooks/preload/functions.h"

namespace cuheap::preload {

extern constinit std::atomic<void*> real_functions[kNames];

// Takes the loader's lock. Finds what is not known yet of the library that `name` belongs to,
// starting at the library of `caller`.
void Resolve(Name name, const void* caller);

// nullptr when there is no such function.
template <Name name>
typename TypeOf<name>::Pointer Real(const void* caller) {
  std::atomic<void*>& place = real_functions[static_cast<std::size_t>(name)];
  void* real = place.load(std::memory_order_acquire);
  if (real == nullptr) [[unlikely]] {
    Resolve(name, caller);
    real = place.load(std::memory_order_acquire);
  }
  return reinterpret_cast<typename TypeOf<name>::Pointer>(real);
}

// A driver function that the program asked for by name, at `version`: remembers the real one and
// returns ours, or returns `real` when we do not stand in front of it.
void* Substitute(const char* symbol, unsigned version, void* real);

// A function of an object that is loaded already, whatever its scope; nullptr otherwise.
void* FindLoaded(const char* object, const char* symbol);

}  // namespace cuheap::preload
