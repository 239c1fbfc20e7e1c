// Graphs: life, structure, execution, user objects. Nodes are in graph_node.cc.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

CUHEAP_FORWARD(cudaGraphCreate, cuGraphCreate, (cudaGraph_t * graph, unsigned int flags), graph,
               flags)
CUHEAP_FORWARD(cudaGraphDestroy, cuGraphDestroy, (cudaGraph_t graph), graph)
CUHEAP_FORWARD(cudaGraphClone, cuGraphClone, (cudaGraph_t * clone, cudaGraph_t graph), clone, graph)
CUHEAP_FORWARD(cudaGraphGetNodes, cuGraphGetNodes,
               (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), graph, nodes, count)
CUHEAP_FORWARD(cudaGraphGetRootNodes, cuGraphGetRootNodes,
               (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), graph, nodes, count)
CUHEAP_FORWARD(cudaGraphGetEdges, cuGraphGetEdges,
               (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                cudaGraphEdgeData* edges, size_t* count),
               graph, from, to, edges, count)
CUHEAP_FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies,
               (cudaGraphNode_t node, cudaGraphNode_t* dependencies, cudaGraphEdgeData* edges,
                size_t* count),
               node, dependencies, edges, count)
CUHEAP_FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes,
               (cudaGraphNode_t node, cudaGraphNode_t* dependents, cudaGraphEdgeData* edges,
                size_t* count),
               node, dependents, edges, count)
CUHEAP_FORWARD(cudaGraphNodeGetType, cuGraphNodeGetType,
               (cudaGraphNode_t node, cudaGraphNodeType* type), node, type)
CUHEAP_FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                const cudaGraphEdgeData* edges, size_t count),
               graph, from, to, edges, count)
CUHEAP_FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                const cudaGraphEdgeData* edges, size_t count),
               graph, from, to, edges, count)
CUHEAP_FORWARD(cudaGraphNodeFindInClone, cuGraphNodeFindInClone,
               (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone), node,
               original, clone)
CUHEAP_FORWARD(cudaGraphDestroyNode, cuGraphDestroyNode, (cudaGraphNode_t node), node)
// PARTIAL: as cuGraphDebugDotPrint.
CUHEAP_FORWARD(cudaGraphDebugDotPrint, cuGraphDebugDotPrint,
               (cudaGraph_t graph, const char* path, unsigned int flags), graph, path, flags)

CUHEAP_FORWARD(cudaGraphInstantiate, cuGraphInstantiateWithFlags,
               (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph,
               flags)
CUHEAP_FORWARD(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,
               (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph,
               flags)
CUHEAP_FORWARD_STREAM(cudaGraphInstantiateWithParams, _ptsz, cuGraphInstantiateWithParams,
                      (cudaGraphExec_t * exec, cudaGraph_t graph,
                       cudaGraphInstantiateParams* parameters),
                      exec, graph, parameters)
CUHEAP_FORWARD_STREAM(cudaGraphLaunch, _ptsz, cuGraphLaunch,
                      (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
CUHEAP_FORWARD_STREAM(cudaGraphUpload, _ptsz, cuGraphUpload,
                      (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
CUHEAP_FORWARD(cudaGraphExecDestroy, cuGraphExecDestroy, (cudaGraphExec_t exec), exec)
CUHEAP_FORWARD(cudaGraphExecUpdate, cuGraphExecUpdate,
               (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result),
               exec, graph, result)
CUHEAP_FORWARD(cudaGraphExecGetFlags, cuGraphExecGetFlags,
               (cudaGraphExec_t exec, unsigned long long* flags), exec, flags)

CUHEAP_FORWARD(cudaUserObjectCreate, cuUserObjectCreate,
               (cudaUserObject_t * object, void* data, cudaHostFn_t destroy,
                unsigned int references, unsigned int flags),
               object, data, destroy, references, flags)
CUHEAP_FORWARD(cudaUserObjectRetain, cuUserObjectRetain,
               (cudaUserObject_t object, unsigned int count), object, count)
CUHEAP_FORWARD(cudaUserObjectRelease, cuUserObjectRelease,
               (cudaUserObject_t object, unsigned int count), object, count)
CUHEAP_FORWARD(cudaGraphRetainUserObject, cuGraphRetainUserObject,
               (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
               graph, object, count, flags)
CUHEAP_FORWARD(cudaGraphReleaseUserObject, cuGraphReleaseUserObject,
               (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), graph, object,
               count)

extern "C" cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                                        cudaGraph_t graph, unsigned int initial,
                                                        unsigned int flags) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUcontext context = nullptr;
    driver.cuCtxGetCurrent(&context);
    return Call(driver.cuGraphConditionalHandleCreate, handle, graph, context, initial, flags);
  });
}
