// Semaphores imported from other interfaces: in streams, and in graphs as nodes.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaImportExternalSemaphore(
    cudaExternalSemaphore_t* semaphore, const cudaExternalSemaphoreHandleDesc* description) {
  if (semaphore == nullptr || description == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC read{};
    read.type = static_cast<CUexternalSemaphoreHandleType>(description->type);
    read.handle.win32.handle = description->handle.win32.handle;
    read.handle.win32.name = description->handle.win32.name;
    read.flags = description->flags;
    return Call(driver.cuImportExternalSemaphore, semaphore, &read);
  });
}

CUHEAP_FORWARD(cudaDestroyExternalSemaphore, cuDestroyExternalSemaphore,
               (cudaExternalSemaphore_t semaphore), semaphore)
CUHEAP_FORWARD_STREAM(cudaSignalExternalSemaphoresAsync, _ptsz, cuSignalExternalSemaphoresAsync,
                      (const cudaExternalSemaphore_t* semaphores,
                       const cudaExternalSemaphoreSignalParams* parameters, unsigned int count,
                       cudaStream_t stream),
                      semaphores, parameters, count, stream)
CUHEAP_FORWARD_STREAM(cudaWaitExternalSemaphoresAsync, _ptsz, cuWaitExternalSemaphoresAsync,
                      (const cudaExternalSemaphore_t* semaphores,
                       const cudaExternalSemaphoreWaitParams* parameters, unsigned int count,
                       cudaStream_t stream),
                      semaphores, parameters, count, stream)

CUHEAP_FORWARD(cudaGraphAddExternalSemaphoresSignalNode, cuGraphAddExternalSemaphoresSignalNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, const cudaExternalSemaphoreSignalNodeParams* parameters),
               node, graph, dependencies, count, parameters)
CUHEAP_FORWARD(cudaGraphExternalSemaphoresSignalNodeGetParams,
               cuGraphExternalSemaphoresSignalNodeGetParams,
               (cudaGraphNode_t node, cudaExternalSemaphoreSignalNodeParams* parameters), node,
               parameters)
CUHEAP_FORWARD(cudaGraphExternalSemaphoresSignalNodeSetParams,
               cuGraphExternalSemaphoresSignalNodeSetParams,
               (cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* parameters),
               node, parameters)
CUHEAP_FORWARD(cudaGraphExecExternalSemaphoresSignalNodeSetParams,
               cuGraphExecExternalSemaphoresSignalNodeSetParams,
               (cudaGraphExec_t exec, cudaGraphNode_t node,
                const cudaExternalSemaphoreSignalNodeParams* parameters),
               exec, node, parameters)

CUHEAP_FORWARD(cudaGraphAddExternalSemaphoresWaitNode, cuGraphAddExternalSemaphoresWaitNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, const cudaExternalSemaphoreWaitNodeParams* parameters),
               node, graph, dependencies, count, parameters)
CUHEAP_FORWARD(cudaGraphExternalSemaphoresWaitNodeGetParams,
               cuGraphExternalSemaphoresWaitNodeGetParams,
               (cudaGraphNode_t node, cudaExternalSemaphoreWaitNodeParams* parameters), node,
               parameters)
CUHEAP_FORWARD(cudaGraphExternalSemaphoresWaitNodeSetParams,
               cuGraphExternalSemaphoresWaitNodeSetParams,
               (cudaGraphNode_t node, const cudaExternalSemaphoreWaitNodeParams* parameters), node,
               parameters)
CUHEAP_FORWARD(cudaGraphExecExternalSemaphoresWaitNodeSetParams,
               cuGraphExecExternalSemaphoresWaitNodeSetParams,
               (cudaGraphExec_t exec, cudaGraphNode_t node,
                const cudaExternalSemaphoreWaitNodeParams* parameters),
               exec, node, parameters)
