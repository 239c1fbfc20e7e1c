// The driver as the runtime sees it: a table of entry points found the way NVIDIA's runtime finds
// them, namely dlopen of libcuda.so.1, one dlsym for cuGetProcAddress_v2, and from there on queries
// by (base name, CUDA version, flags). Nothing is linked, so that whatever stands between a program
// and its driver is met here too.
//
// Threads: loaded once, by the first call of any thread; constant afterwards.
// Laws: 1. No entry is null: one the driver does not know says its name on stderr once and returns
//          CUDA_ERROR_NOT_SUPPORTED.
//       2. Loading makes no context; cuInit is its last step.
#pragma once

#include <cuda.h>

namespace cuheap::sim_runtime {

// What handle 0 means to the caller: the legacy stream, or (programs built with per-thread default
// streams) its own.
enum class DefaultStream { kLegacy, kPerThread };

struct Driver {
  decltype(&::cuGetProcAddress_v2) get_proc_address;
#define CUHEAP_DRIVER_FUNCTION(name, version) decltype(&::name) name;
#define CUHEAP_DRIVER_STREAM_FUNCTION(name, version, thread_version) decltype(&::name) name;
#include "tests/sim/runtime/driver_functions.def"
#undef CUHEAP_DRIVER_FUNCTION
#undef CUHEAP_DRIVER_STREAM_FUNCTION
};

const Driver& GetDriver(DefaultStream flavour);

// The result of loading the driver and of cuInit. REQUIRES before any entry of the table but
// cuDriverGetVersion is called: CUDA_SUCCESS.
CUresult DriverStatus();

}  // namespace cuheap::sim_runtime
