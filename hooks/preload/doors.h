// The exports that no header declares: twins for the per-thread default stream.
#pragma once

#include <cuda_runtime_api.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern "C" {
#define CUHEAP_RUNTIME(name)
#define CUHEAP_RUNTIME_STREAM(name) decltype(name) name##_ptsz;
#define CUHEAP_DRIVER(name, version)
#define CUHEAP_TORCH(name)
#include "hooks/preload/functions.def"
#undef CUHEAP_RUNTIME
#undef CUHEAP_RUNTIME_STREAM
#undef CUHEAP_DRIVER
#undef CUHEAP_TORCH
}
#pragma GCC diagnostic pop

// What an exported function is marked with, and its caller.
#define CUHEAP_DOOR extern "C" [[gnu::visibility("default")]]
#define CUHEAP_CALLER __builtin_return_address(0)
