// The driver's functions as the contract reaches them: by dlsym from libcuda.so.1, or by
// cuGetProcAddress, as a static runtime does. Nothing is linked, so one binary runs on the
// simulated device and on a GPU.
#pragma once

#include <cuda.h>

namespace cuheap::contract {

struct DriverFunctions {
  // A name of cuda.h stands for its newest ABI: the member is called after that too.
#define F(name) decltype(&::name) name = nullptr;
#include "tests/contract/driver_functions.def"
#undef F
};

enum class Road { kSymbols, kResolver };

// The functions by one road, initialised with cuInit; what the driver lacks is null.
// REQUIRES: DriverIsThere().
const DriverFunctions& Driver(Road road);
// Whether libcuda.so.1 can be loaded and initialised; if not, why, in `*reason`.
bool DriverIsThere(const char** reason);

}  // namespace cuheap::contract
