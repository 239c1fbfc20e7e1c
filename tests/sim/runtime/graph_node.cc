// Graph nodes, whose parameters the two interfaces describe in different records.
#include <cstring>

#include "tests/sim/runtime/copy.h"
#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/missing.h"
#include "tests/sim/runtime/registry.h"

using namespace cuheap::sim_runtime;

namespace {

CUcontext CurrentContext(const Driver& driver) {
  CUcontext context = nullptr;
  driver.cuCtxGetCurrent(&context);
  return context;
}

template <typename From, typename To>
CUresult TranslateKernel(const From& from, CUcontext context, To* to) {
  to->func = nullptr;
  to->gridDimX = from.gridDim.x;
  to->gridDimY = from.gridDim.y;
  to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x;
  to->blockDimY = from.blockDim.y;
  to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
  to->ctx = context;
  return KernelOf(from.func, &to->kern);
}

// Records that both interfaces lay out alike: the whole union is copied.
void CopyUnion(const cudaGraphNodeParams& from, CUgraphNodeParams* to) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
  std::memcpy(to, &from, sizeof *to);
}

CUresult TranslateMemcpy(const cudaGraphNodeParams& from, CUcontext context,
                         CUgraphNodeParams* to) {
  to->memcpy.copyCtx = context;
  return TranslateCopy(from.memcpy.copyParams, &to->memcpy.copyParams) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult TranslateNode(const cudaGraphNodeParams& from, CUcontext context, CUgraphNodeParams* to) {
  static bool said = false;
  to->type = static_cast<CUgraphNodeType>(from.type);
  switch (from.type) {
    case cudaGraphNodeTypeKernel:
      return TranslateKernel(from.kernel, context, &to->kernel);
    case cudaGraphNodeTypeMemcpy:
      return TranslateMemcpy(from, context, to);
    case cudaGraphNodeTypeMemset:
      CopyUnion(from, to);
      to->memset.ctx = context;
      return CUDA_SUCCESS;
    case cudaGraphNodeTypeConditional:
      CopyUnion(from, to);
      to->conditional.ctx = context;
      return CUDA_SUCCESS;
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      CopyUnion(from, to);
      return CUDA_SUCCESS;
    default:
      SayMissingOnce(&said, "cudaGraphAddNode",
                     "does not know this type of node in the simulated runtime");
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

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
    CUresult result = TranslateNode(*parameters, CurrentContext(driver), &translated);
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
    const CUresult result = TranslateKernel(*parameters, CurrentContext(driver), &translated);
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
    if (!TranslateCopy(*parameters, &translated)) return CUDA_ERROR_NOT_SUPPORTED;
    return driver.cuGraphAddMemcpyNode(node, graph, dependencies, count, &translated,
                                       CurrentContext(driver));
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                void* target, const void* source, size_t bytes,
                                                cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {const_cast<void*>(source), bytes, bytes, 1};
  copy.dstPtr = {target, bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

extern "C" cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaMemsetParams* parameters) {
  static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    return Call(driver.cuGraphAddMemsetNode, node, graph, dependencies, count, parameters,
                CurrentContext(driver));
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
