// Nodes of executable graphs.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/graph_translation.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUgraphNodeParams translated{};
    const CUresult result = TranslateNode(*parameters, CurrentContextOf(driver), &translated);
    return result == CUDA_SUCCESS ? driver.cuGraphExecNodeSetParams(exec, node, &translated)
                                  : result;
  });
}

extern "C" cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_KERNEL_NODE_PARAMS translated{};
    const CUresult result = TranslateKernel(*parameters, CurrentContextOf(driver), &translated);
    return result == CUDA_SUCCESS ? driver.cuGraphExecKernelNodeSetParams(exec, node, &translated)
                                  : result;
  });
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_MEMCPY3D translated{};
    if (!TranslateNodeCopy(*parameters, &translated)) return CUDA_ERROR_INVALID_VALUE;
    return driver.cuGraphExecMemcpyNodeSetParams(exec, node, &translated, CurrentContextOf(driver));
  });
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                          cudaGraphNode_t node, void* target,
                                                          const void* source, size_t bytes,
                                                          cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = RowOf(target, source, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* source,
    size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](void* address) {
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, address, source, bytes, kind);
  });
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                                  cudaGraphNode_t node,
                                                                  void* target, const void* symbol,
                                                                  size_t bytes, size_t offset,
                                                                  cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](const void* address) {
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, target, address, bytes, kind);
  });
}

extern "C" cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaMemsetParams* parameters) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    return Call(driver.cuGraphExecMemsetNodeSetParams, exec, node, parameters,
                CurrentContextOf(driver));
  });
}

CUHEAP_FORWARD(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams,
               (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* parameters),
               exec, node, parameters)
CUHEAP_FORWARD(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
               (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child), exec, node, child)
CUHEAP_FORWARD(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
               (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)
CUHEAP_FORWARD(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
               (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)
CUHEAP_FORWARD(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled,
               (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled), exec, node,
               enabled)
CUHEAP_FORWARD(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled,
               (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled), exec, node,
               enabled)
