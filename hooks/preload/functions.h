// The names of functions.def as an enumeration, with the type of each.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cuheap::preload {

enum class Name : std::uint32_t {
#define CUHEAP_RUNTIME(name) name,
#define CUHEAP_RUNTIME_STREAM(name) name, name##_ptsz,
#define CUHEAP_DRIVER(name, version) name,
#define CUHEAP_TORCH(name)
#include "hooks/preload/functions.def"
#undef CUHEAP_RUNTIME
#undef CUHEAP_RUNTIME_STREAM
#undef CUHEAP_DRIVER
#undef CUHEAP_TORCH
  kCount
};
inline constexpr std::size_t kNames = static_cast<std::size_t>(Name::kCount);

template <Name name>
struct TypeOf;

// cudaGetDriverEntryPoint is deprecated for new code; old code still calls it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define CUHEAP_TYPE(name, function)        \
  template <>                              \
  struct TypeOf<Name::name> {              \
    using Pointer = decltype(&::function); \
  };
#define CUHEAP_RUNTIME(name) CUHEAP_TYPE(name, name)
#define CUHEAP_RUNTIME_STREAM(name) CUHEAP_TYPE(name, name) CUHEAP_TYPE(name##_ptsz, name)
#define CUHEAP_DRIVER(name, version) CUHEAP_TYPE(name, name)
#define CUHEAP_TORCH(name)
#include "hooks/preload/functions.def"
#undef CUHEAP_RUNTIME
#undef CUHEAP_RUNTIME_STREAM
#undef CUHEAP_DRIVER
#undef CUHEAP_TORCH
#undef CUHEAP_TYPE
#pragma GCC diagnostic pop

}  // namespace cuheap::preload
