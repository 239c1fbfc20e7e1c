// The parameters of graph nodes, which the two interfaces describe in different records.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/sim/runtime/context.h"
#include "tests/sim/runtime/driver.h"
#include "tests/sim/runtime/error.h"
#include "tests/sim/runtime/registry.h"

namespace cuheap::sim_runtime {

CUcontext CurrentContextOf(const Driver& driver);

CUresult TranslateKernel(const cudaKernelNodeParams& from, CUcontext context,
                         CUDA_KERNEL_NODE_PARAMS* to);
// INVALID_VALUE: there is no such type.
CUresult TranslateNode(const cudaGraphNodeParams& from, CUcontext context, CUgraphNodeParams* to);
// As TranslateCopy, and with the kinds of memory that its direction says. False for no direction
// too.
bool TranslateNodeCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to);
// False: an array of the copy does not live any more.
bool TranslateCopyBack(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms* to);

// A copy of one row.
cudaMemcpy3DParms RowOf(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);

// Calls `use` with the address of `bytes` bytes of a variable; keeps a failure to find them as the
// thread's last error.
template <typename Use>
cudaError_t WithSymbol(const void* symbol, size_t bytes, size_t offset, Use&& use) {
  CUdeviceptr address = 0;
  size_t size = 0;
  CUresult found = EnsureContext();
  if (found == CUDA_SUCCESS) found = VariableOf(symbol, &address, &size);
  if (found != CUDA_SUCCESS) return Record(found);
  if (offset > size || bytes > size - offset) return Record(cudaErrorInvalidValue);
  return use(reinterpret_cast<void*>(address + offset));
}

}  // namespace cuheap::sim_runtime
