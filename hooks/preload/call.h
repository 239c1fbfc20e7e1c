// One call through a door: guard against re-entry, forward, record.
//
// The real runtime calls the driver, and a library may call a hooked function from inside one: what
// happens inside is the outer call's business and is only forwarded. A table of the core's
// functions is all a door knows.
#pragma once

#include <cuheap/core.h>

#include "hooks/preload/figures.h"
#include "hooks/preload/resolver.h"

namespace cuheap::preload {

// Whether this thread is inside a real function that one of our doors called.
extern constinit thread_local bool inside;

class Inside {
 public:
  Inside() : outer_(inside) { inside = true; }
  ~Inside() { inside = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool outer_;
};

template <typename Result>
struct NotFound;
template <>
struct NotFound<cudaError_t> {
  static constexpr cudaError_t value = cudaErrorSharedObjectSymbolNotFound;
};
template <>
struct NotFound<CUresult> {
  static constexpr CUresult value = CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
};

template <Name name, typename... Arguments>
auto Forward(const void* caller, Arguments... arguments) {
  const auto real = Real<name>(caller);
  using Result = decltype(real(arguments...));
  if (real == nullptr) return NotFound<Result>::value;
  const Inside guard;
  return real(arguments...);
}

inline const cuheap_core_v1_table& Core() { return *cuheap_core_v1(); }

inline std::uint32_t CaptureFlag() {
  return IsCapturing() ? std::uint32_t{CUHEAP_BLOCK_IN_CAPTURE} : 0u;
}

// A place where no lock of torch's is held: what events must not look up is looked up here.
void SafePoint();

}  // namespace cuheap::preload
