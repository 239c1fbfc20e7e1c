// How facts are asked: a current context, and answers in words.
#pragma once

#include <string>

#include "tests/contract/code.h"
#include "tests/contract/driver_functions.h"
#include "tests/contract/facts.h"
#include "tests/contract/runtime_functions.h"

namespace cuheap::contract {

inline const DriverFunctions& D() { return Driver(Road::kSymbols); }

// The primary context of `device`, current.
inline CUcontext UsePrimary(int device = 0) {
  CUcontext context = nullptr;
  D().cuDevicePrimaryCtxRetain(&context, device);
  D().cuCtxSetCurrent(context);
  return context;
}

inline std::string Say(CUresult code) { return NameOf({static_cast<int>(code)}); }
inline std::string Say(cudaError_t code) { return NameOf({static_cast<int>(code)}); }

inline CUdeviceptr Block(std::size_t bytes) {
  CUdeviceptr block = 0;
  D().cuMemAlloc(&block, bytes);
  return block;
}
inline CUstream NewStream() {
  CUstream stream = nullptr;
  D().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  return stream;
}

}  // namespace cuheap::contract
