// Reading and changing the parameters of nodes.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/graph_translation.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                              cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUgraphNodeParams translated{};
    const CUresult result = TranslateNode(*parameters, CurrentContextOf(driver), &translated);
    return result == CUDA_SUCCESS ? driver.cuGraphNodeSetParams(node, &translated) : result;
  });
}

// PARTIAL: kernelParams and extra are NULL: images are not read, so nobody knows what to keep.
extern "C" cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                    cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_KERNEL_NODE_PARAMS told{};
    const CUresult result = driver.cuGraphKernelNodeGetParams(node, &told);
    if (result != CUDA_SUCCESS) return result;
    *parameters = {};
    const auto kernel = told.func != nullptr ? reinterpret_cast<CUkernel>(told.func) : told.kern;
    parameters->func = const_cast<void*>(StubOf(kernel));
    parameters->gridDim = {told.gridDimX, told.gridDimY, told.gridDimZ};
    parameters->blockDim = {told.blockDimX, told.blockDimY, told.blockDimZ};
    parameters->sharedMemBytes = told.sharedMemBytes;
    return CUDA_SUCCESS;
  });
}

extern "C" cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_KERNEL_NODE_PARAMS translated{};
    const CUresult result = TranslateKernel(*parameters, CurrentContextOf(driver), &translated);
    return result == CUDA_SUCCESS ? driver.cuGraphKernelNodeSetParams(node, &translated) : result;
  });
}

// PARTIAL: the logical width of pitched memory (xsize) is the width of the copy.
extern "C" cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                    cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_MEMCPY3D told{};
    const CUresult result = driver.cuGraphMemcpyNodeGetParams(node, &told);
    if (result != CUDA_SUCCESS) return result;
    return TranslateCopyBack(told, parameters) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                    const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_MEMCPY3D translated{};
    if (!TranslateNodeCopy(*parameters, &translated)) return CUDA_ERROR_INVALID_VALUE;
    return driver.cuGraphMemcpyNodeSetParams(node, &translated);
  });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target,
                                                      const void* source, size_t bytes,
                                                      cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = RowOf(target, source, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &copy);
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                            const void* symbol, const void* source,
                                                            size_t bytes, size_t offset,
                                                            cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](void* address) {
    return cudaGraphMemcpyNodeSetParams1D(node, address, source, bytes, kind);
  });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* target,
                                                              const void* symbol, size_t bytes,
                                                              size_t offset, cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](const void* address) {
    return cudaGraphMemcpyNodeSetParams1D(node, target, address, bytes, kind);
  });
}

CUHEAP_FORWARD(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams,
               (cudaGraphNode_t node, cudaMemsetParams* parameters), node, parameters)
CUHEAP_FORWARD(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams,
               (cudaGraphNode_t node, const cudaMemsetParams* parameters), node, parameters)
CUHEAP_FORWARD(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams,
               (cudaGraphNode_t node, cudaHostNodeParams* parameters), node, parameters)
CUHEAP_FORWARD(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams,
               (cudaGraphNode_t node, const cudaHostNodeParams* parameters), node, parameters)
CUHEAP_FORWARD(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,
               (cudaGraphNode_t node, cudaGraph_t* graph), node, graph)
CUHEAP_FORWARD(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,
               (cudaGraphNode_t node, cudaEvent_t* event), node, event)
CUHEAP_FORWARD(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent,
               (cudaGraphNode_t node, cudaEvent_t event), node, event)
CUHEAP_FORWARD(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent,
               (cudaGraphNode_t node, cudaEvent_t* event), node, event)
CUHEAP_FORWARD(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent,
               (cudaGraphNode_t node, cudaEvent_t event), node, event)
CUHEAP_FORWARD(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,
               (cudaGraphNode_t node, cudaMemAllocNodeParams* parameters), node, parameters)
CUHEAP_FORWARD(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams,
               (cudaGraphNode_t node, void* address), node, address)
CUHEAP_FORWARD(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes,
               (cudaGraphNode_t to, cudaGraphNode_t from), to, from)
CUHEAP_FORWARD(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute,
               (cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                cudaKernelNodeAttrValue* value),
               node, attribute, value)
CUHEAP_FORWARD(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute,
               (cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                const cudaKernelNodeAttrValue* value),
               node, attribute, value)
