// What the files of the face share: handles to objects, streams, and early return on errors.
#pragma once

#include <cuda.h>

#include "face.h"
#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/capture.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/stream.h"

// Leaves the function with the code of `expression` unless that is success. Out-parameters are
// written after the last of these, so a failed call leaves them untouched.
#define CUHEAP_SIM_TRY(expression)                                             \
  do {                                                                         \
    if (const CUresult code = (expression); code != CUDA_SUCCESS) return code; \
  } while (false)

namespace cuheap::sim {

inline CUresult StreamOf(CUstream handle, Stream** out) {
  return ResolveStream(handle, DefaultIsPerThread(), out);
}

inline CUresult NeedContext() {
  Context* context = nullptr;
  return CurrentContext(&context);
}

inline CUresult NeedDevice(int device) {
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

template <class... Pointers>
CUresult NeedPointers(Pointers... pointers) {
  return ((pointers != nullptr) && ...) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <class Out, class Value>
void WriteIfAsked(Out* out, Value value) {
  if (out != nullptr) *out = value;
}

template <class To, class From>
To Cast(From* from) {
  return reinterpret_cast<To>(from);
}

}  // namespace cuheap::sim
