// The functions of the shared runtime, libcudart.so.13, found by dlsym.
#pragma once

#include <cuda_runtime_api.h>

namespace cuheap::contract {

struct RuntimeFunctions {
#define F(name) decltype(&::name) name = nullptr;
#include "tests/contract/runtime_functions.def"
#undef F
};

// What the runtime lacks is null. REQUIRES: RuntimeIsThere().
const RuntimeFunctions& Runtime();
bool RuntimeIsThere();

}  // namespace cuheap::contract
