// The driver's log. Callbacks are registered and never called, and the log is always empty: the
// simulated driver has nothing to say beside its error codes.
#include <cstdio>
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

// PARTIAL: the driver never writes a message, so that the callback is never called.
CUresult face::LogsRegisterCallback(CUlogsCallback callback, void*, CUlogsCallbackHandle* out) {
  CUHEAP_SIM_TRY(NeedPointers(callback));
  const EngineLock lock;
  static std::uintptr_t last = 0;
  Callbacks().insert(++last);
  WriteIfAsked(out, reinterpret_cast<CUlogsCallbackHandle>(last));
  return CUDA_SUCCESS;
}

CUresult face::LogsUnregisterCallback(CUlogsCallbackHandle handle) {
  const EngineLock lock;
  return Callbacks().erase(reinterpret_cast<std::uintptr_t>(handle)) == 1
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

// PARTIAL: the driver never writes a message, so that this is always the place of the first one.
CUresult face::LogsCurrent(CUlogIterator* out, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *out = 0;
  return CUDA_SUCCESS;
}

// PARTIAL: the driver never writes a message, so that the file is always empty.
CUresult face::LogsDumpToFile(CUlogIterator*, const char* path, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(path));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::fclose(file);
  return CUDA_SUCCESS;
}

// PARTIAL: the driver never writes a message, so that there is never anything to give.
CUresult face::LogsDumpToMemory(CUlogIterator*, char* buffer, size_t* size, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(buffer, size));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (*size != 0) *buffer = 0;
  *size = 0;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
