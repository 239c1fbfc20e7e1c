// The driver's log callbacks: registered and never called, because the simulated driver has nothing
// to say beside its error codes.
#include <set>

#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

// Callbacks by handle: a number that never repeats.
std::set<std::uintptr_t>& Callbacks() {
  static auto& callbacks = *new std::set<std::uintptr_t>;
  return callbacks;
}

}  // namespace

CUresult face::LogsRegisterCallback(CUlogsCallback callback, void*, CUlogsCallbackHandle* out) {
  CUHEAP_SIM_TRY(NeedPointers(callback, out));
  const EngineLock lock;
  static std::uintptr_t last = 0;
  Callbacks().insert(++last);
  *out = reinterpret_cast<CUlogsCallbackHandle>(last);
  return CUDA_SUCCESS;
}

CUresult face::LogsUnregisterCallback(CUlogsCallbackHandle handle) {
  const EngineLock lock;
  return Callbacks().erase(reinterpret_cast<std::uintptr_t>(handle)) == 1
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuheap::sim
