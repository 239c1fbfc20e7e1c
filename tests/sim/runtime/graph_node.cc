// Adding nodes to graphs.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/graph_translation.h"
#include "tests/sim/runtime/registry.h"

using namespace cuheap::sim_runtime;

namespace {

// What the driver wrote into the parameters: the graphs of a conditional node, the address of an
// allocation.
void ReturnOutputs(const CUgraphNodeParams& from, cudaGraphNodeParams* to) {
  if (to->type == cudaGraphNodeTypeConditional) {
    to->conditional.phGraph_out = reinterpret_cast<cudaGraph_t*>(from.conditional.phGraph_out);
  }
  if (to->type == cudaGraphNodeTypeMemAlloc)
    to->alloc.dptr = reinterpret_cast<void*>(from.alloc.dptr);
}

}  // namespace

extern "C" cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* edges, size_t count,
                                        cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUgraphNodeParams translated{};
    CUresult result = TranslateNode(*parameters, CurrentContextOf(driver), &translated);
    if (result != CUDA_SUCCESS) return result;
    result = Call(driver.cuGraphAddNode, node, graph, dependencies, edges, count, &translated);
    if (result == CUDA_SUCCESS) ReturnOutputs(translated, parameters);
    return result;
  });
}

extern "C" cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_KERNEL_NODE_PARAMS translated{};
    const CUresult result = TranslateKernel(*parameters, CurrentContextOf(driver), &translated);
    if (result != CUDA_SUCCESS) return result;
    return driver.cuGraphAddKernelNode(node, graph, dependencies, count, &translated);
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_MEMCPY3D translated{};
    if (!TranslateNodeCopy(*parameters, &translated)) return CUDA_ERROR_INVALID_VALUE;
    return driver.cuGraphAddMemcpyNode(node, graph, dependencies, count, &translated,
                                       CurrentContextOf(driver));
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                void* target, const void* source, size_t bytes,
                                                cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = RowOf(target, source, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

extern "C" cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                      const cudaGraphNode_t* dependencies,
                                                      size_t count, const void* symbol,
                                                      const void* source, size_t bytes,
                                                      size_t offset, cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](void* address) {
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, address, source, bytes, kind);
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                        const cudaGraphNode_t* dependencies,
                                                        size_t count, void* target,
                                                        const void* symbol, size_t bytes,
                                                        size_t offset, cudaMemcpyKind kind) {
  return WithSymbol(symbol, bytes, offset, [&](const void* address) {
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, target, address, bytes, kind);
  });
}

extern "C" cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaMemsetParams* parameters) {
  static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    return Call(driver.cuGraphAddMemsetNode, node, graph, dependencies, count, parameters,
                CurrentContextOf(driver));
  });
}

extern "C" cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                cudaMemAllocNodeParams* parameters) {
  static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    return Call(driver.cuGraphAddMemAllocNode, node, graph, dependencies, count, parameters);
  });
}

CUHEAP_FORWARD(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, void* pointer),
               node, graph, dependencies, count, pointer)
CUHEAP_FORWARD(cudaGraphAddHostNode, cuGraphAddHostNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, const cudaHostNodeParams* parameters),
               node, graph, dependencies, count, parameters)
CUHEAP_FORWARD(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, cudaGraph_t child),
               node, graph, dependencies, count, child)
CUHEAP_FORWARD(cudaGraphAddEmptyNode, cuGraphAddEmptyNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count),
               node, graph, dependencies, count)
CUHEAP_FORWARD(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, cudaEvent_t event),
               node, graph, dependencies, count, event)
CUHEAP_FORWARD(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, cudaEvent_t event),
               node, graph, dependencies, count, event)
