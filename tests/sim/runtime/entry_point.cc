// Driver functions by name: the driver's own resolver answers, with the version and the flags that
// the program asked for. Absence is success with a null function; the status says why.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

cudaError_t EntryPoint(const char* symbol, void** function, unsigned int version, cuuint64_t flags,
                       cudaDriverEntryPointQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return Record(cudaErrorInvalidValue);
  void* entry = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const cudaError_t result = InDriver([&](const Driver& driver) {
    return driver.get_proc_address(symbol, &entry, static_cast<int>(version), flags, &found);
  });
  if (result != cudaSuccess) return result;
  *function = entry;
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return cudaSuccess;
}

// What the default means to a caller compiled with per-thread default streams.
cuuint64_t ThreadFlags(unsigned long long flags) {
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return flags == cudaEnableDefault ? kPerThread : flags;
}

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                        unsigned int version,
                                                        unsigned long long flags,
                                                        cudaDriverEntryPointQueryResult* status) {
  return EntryPoint(symbol, function, version, flags, status);
}

extern "C" cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** function, unsigned int version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* status) {
  return EntryPoint(symbol, function, version, ThreadFlags(flags), status);
}

extern "C" cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                               unsigned long long flags,
                                               cudaDriverEntryPointQueryResult* status) {
  return EntryPoint(symbol, function, CUDART_VERSION, flags, status);
}

extern "C" cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                    unsigned long long flags,
                                                    cudaDriverEntryPointQueryResult* status) {
  return EntryPoint(symbol, function, CUDART_VERSION, ThreadFlags(flags), status);
}
