// How a stand-in reaches the driver: by name, as the real libraries do, so that whoever stands
// between sees its calls.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace cuheap::sim_standin {

// Ends the process where the driver lacks the function: a stand-in without its driver is of no use.
template <typename Function>
Function* DriverFunction(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* function = driver == nullptr ? nullptr : dlsym(driver, name);
  if (function == nullptr) {
    std::fprintf(stderr, "cuheap-sim: a stand-in needs %s of libcuda.so.1\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(function);
}

}  // namespace cuheap::sim_standin
