// cuSOLVER: handles and parameters.
#include "tests/sim/standins/cusolver_work.h"

using namespace cuheap::sim_standin;

CUHEAP_STANDIN int cusolverDnCreate(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cusolverDnDestroy(Handle handle) { return Destroy(handle); }
CUHEAP_STANDIN int cusolverDnSetStream(Handle handle, Stream stream) {
  if (handle == nullptr) return kSolverNotInitialized;
  SetStream(handle, stream);
  return 0;
}
CUHEAP_STANDIN int cusolverDnCreateParams(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroyParams(Handle parameters) { return Destroy(parameters); }
CUHEAP_STANDIN int cusolverDnCreateGesvdjInfo(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroyGesvdjInfo(Handle parameters) { return Destroy(parameters); }
CUHEAP_STANDIN int cusolverDnCreateSyevjInfo(Handle* parameters) { return Create(parameters); }
CUHEAP_STANDIN int cusolverDnDestroySyevjInfo(Handle parameters) { return Destroy(parameters); }
