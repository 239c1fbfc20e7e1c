// The driver's log.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

CUHEAP_FORWARD_DRIVER(cudaLogsRegisterCallback, cuLogsRegisterCallback,
                      (cudaLogsCallback_t callback, void* data, cudaLogsCallbackHandle* handle),
                      callback, data, handle)
CUHEAP_FORWARD_DRIVER(cudaLogsUnregisterCallback, cuLogsUnregisterCallback,
                      (cudaLogsCallbackHandle handle), handle)
CUHEAP_FORWARD_DRIVER(cudaLogsCurrent, cuLogsCurrent,
                      (cudaLogIterator * iterator, unsigned int flags), iterator, flags)
CUHEAP_FORWARD_DRIVER(cudaLogsDumpToFile, cuLogsDumpToFile,
                      (cudaLogIterator * iterator, const char* path, unsigned int flags), iterator,
                      path, flags)
CUHEAP_FORWARD_DRIVER(cudaLogsDumpToMemory, cuLogsDumpToMemory,
                      (cudaLogIterator * iterator, char* buffer, size_t* size, unsigned int flags),
                      iterator, buffer, size, flags)
