#include "tests/sim/runtime/error.h"

#include "tests/sim/runtime/context.h"

namespace cuheap::sim_runtime {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Description {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr Description kDescriptions[] = {
#define CUHEAP_RUNTIME_ERROR(name, text) {name, #name, text},
#include "tests/sim/runtime/errors.def"
#undef CUHEAP_RUNTIME_ERROR
};

constexpr Description kUnrecognised = {cudaErrorUnknown, "unrecognized error code",
                                       "unrecognized error code"};

const Description& Describe(cudaError_t error) {
  for (const Description& description : kDescriptions) {
    if (description.error == error) return description;
  }
  return kUnrecognised;
}

}  // namespace

cudaError_t Record(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace cuheap::sim_runtime

using namespace cuheap::sim_runtime;

// What broke the context stays until there is another one.
extern "C" cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  if (error != cudaSuccess && !IsBroken(error)) last_error = cudaSuccess;
  return error;
}

extern "C" cudaError_t cudaPeekAtLastError() { return last_error; }

extern "C" const char* cudaGetErrorName(cudaError_t error) { return Describe(error).name; }

extern "C" const char* cudaGetErrorString(cudaError_t error) { return Describe(error).text; }
