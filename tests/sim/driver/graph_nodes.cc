// Adding nodes to graphs.
#include <cstring>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/graph_memory.h"

namespace cuheap::sim {
namespace {

// The graph of a moved child is its node's from now on.
void MoveOwnership(const Operation& operation) {
  const auto* child = std::get_if<ChildOp>(&operation);
  if (child == nullptr || child->graph->self == nullptr) return;
  child->graph->place = GraphPlace::kMovedChild;
  child->graph->self = nullptr;
}

// Nodes to come after, as a call names them.
struct Named {
  const CUgraphNode* nodes;
  const CUgraphEdgeData* edges;
  size_t count;
};

CUresult Add(CUgraphNode* out, CUgraph handle, const Named& after, NodeWork work,
             GraphNode** made = nullptr) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Graph* graph = FindGraph(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* child = std::get_if<ChildOp>(&work.operation);
  if (child != nullptr && (child->graph.get() == graph || IsInside(*graph, *child->graph))) {
    return CUDA_ERROR_INVALID_VALUE;  // it would own itself
  }
  Dependencies dependencies;
  CUHEAP_SIM_TRY(DependenciesOf(after.nodes, after.edges, after.count, &dependencies));
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(AddNode(graph, std::move(dependencies), std::move(work), &node));
  MoveOwnership(node->operation);
  *out = Cast<CUgraphNode>(node);
  WriteIfAsked(made, node);
  return CUDA_SUCCESS;
}

// What the making of a node tells beside its handle.
void GiveOutputs(const GraphNode& node, CUgraphNodeParams* parameters) {
  if (const auto* allocation = std::get_if<AllocOp>(&node.operation)) {
    parameters->alloc.dptr = allocation->memory->region.base;
  } else if (const auto* conditional = std::get_if<ConditionalOp>(&node.operation)) {
    parameters->conditional.phGraph_out = conditional->node->body_handles.data();
  }
}

template <class Parameters>
CUresult AddOf(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
               const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  return Add(out, graph, {after, nullptr, count}, std::move(work));
}

// Of work whose parameters do not say where it runs.
template <class Parameters>
CUresult AddIn(CUcontext context, CUgraphNode* out, CUgraph graph, const Named& after,
               const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  const EngineLock lock;
  CUHEAP_SIM_TRY(NodeContextOf(context, &work.context));
  return Add(out, graph, after, std::move(work));
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS Newer(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = old.func;
  parameters.gridDimX = old.gridDimX;
  parameters.gridDimY = old.gridDimY;
  parameters.gridDimZ = old.gridDimZ;
  parameters.blockDimX = old.blockDimX;
  parameters.blockDimY = old.blockDimY;
  parameters.blockDimZ = old.blockDimZ;
  parameters.sharedMemBytes = old.sharedMemBytes;
  parameters.kernelParams = old.kernelParams;
  parameters.extra = old.extra;
  return parameters;
}

CUresult face::GraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                               const CUgraphEdgeData* edges, size_t count,
                               CUgraphNodeParams* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(out, parameters));
  const EngineLock lock;
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(Add(out, graph, {after, edges, count}, std::move(work), &node));
  GiveOutputs(*node, parameters);
  return CUDA_SUCCESS;
}
CUresult face::GraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                            CUgraphNodeParams* parameters) {
  return GraphAddNode_v2(out, graph, after, nullptr, count, parameters);
}
CUresult face::GraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                 size_t count) {
  return Add(out, graph, {after, nullptr, count}, {EmptyOp{}});
}
CUresult face::GraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const CUDA_KERNEL_NODE_PARAMS newer = Newer(*parameters);
  return AddOf(out, graph, after, count, &newer);
}
CUresult face::GraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, const CUDA_MEMCPY3D* parameters,
                                  CUcontext context) {
  return AddIn(context, out, graph, {after, nullptr, count}, parameters);
}
CUresult face::GraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                                  CUcontext context) {
  return AddIn(context, out, graph, {after, nullptr, count}, parameters);
}
CUresult face::GraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      size_t count, CUgraph child) {
  Operation operation;
  CUHEAP_SIM_TRY(ChildOperationOf(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &operation));
  return Add(out, graph, {after, nullptr, count}, {std::move(operation)});
}
CUresult face::GraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                       size_t count, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(RecordOperationOf(event, &operation));
  return Add(out, graph, {after, nullptr, count}, {std::move(operation)});
}
CUresult face::GraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     size_t count, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(WaitOperationOf(event, &operation));
  return Add(out, graph, {after, nullptr, count}, {std::move(operation)});
}
CUresult face::GraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                    size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  const EngineLock lock;
  const CUdeviceptr address = std::get<AllocOp>(work.operation).memory->region.base;
  CUHEAP_SIM_TRY(Add(out, graph, {after, nullptr, count}, std::move(work)));
  parameters->dptr = address;
  return CUDA_SUCCESS;
}
CUresult face::GraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      size_t count,
                                      const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddExternalSemaphoresSignalNode(
    CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddExternalSemaphoresWaitNode(CUgraphNode* out, CUgraph graph,
                                                  const CUgraphNode* after, size_t count,
                                                  const CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUdeviceptr address) {
  return Add(out, graph, {after, nullptr, count}, {FreeOp{address}});
}

}  // namespace cuheap::sim
