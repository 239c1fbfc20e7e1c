// Nodes of executable graphs, named by the nodes that they were made from.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/graph_update.h"

namespace cuheap::sim {
namespace {

CUresult Change(CUgraphExec handle, CUgraphNode node_handle, NodeWork work) {
  const EngineLock lock;
  GraphExec* exec = nullptr;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(NodeOf(node_handle, &node));
  return ChangeNode(exec, *node, std::move(work));
}

template <class Parameters>
CUresult ChangeTo(CUgraphExec exec, CUgraphNode node, const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  return Change(exec, node, std::move(work));
}

// Of work whose parameters do not say where it runs.
template <class Parameters>
CUresult ChangeIn(CUcontext context, CUgraphExec exec, CUgraphNode node,
                  const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  const EngineLock lock;
  CUHEAP_SIM_TRY(NodeContextOf(context, &work.context));
  return Change(exec, node, std::move(work));
}

CUresult CheckType(const CUgraphNodeParams& parameters, CUgraphNode handle) {
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(NodeOf(handle, &node));
  const bool fits = NodeTypeOf(node->operation) == parameters.type;
  if (!fits || !AreUnusedBytesZero(parameters)) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_SUCCESS;
  }
}

}  // namespace

CUresult face::GraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      CUgraphNodeParams* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckType(*parameters, node));
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return GraphExecChildGraphNodeSetParams(exec, node, parameters->graph.graph);
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const CUDA_KERNEL_NODE_PARAMS newer = Newer(*parameters);
  return ChangeTo(exec, node, &newer);
}
CUresult face::GraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters) {
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecExternalSemaphoresWaitNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters) {
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_MEMCPY3D* parameters, CUcontext context) {
  return ChangeIn(context, exec, node, parameters);
}
CUresult face::GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS* parameters,
                                            CUcontext context) {
  return ChangeIn(context, exec, node, parameters);
}
CUresult face::GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_HOST_NODE_PARAMS* parameters) {
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return ChangeTo(exec, node, parameters);
}
CUresult face::GraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(RecordOperationOf(event, &operation));
  return Change(exec, node, {std::move(operation)});
}
CUresult face::GraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(WaitOperationOf(event, &operation));
  return Change(exec, node, {std::move(operation)});
}

CUresult face::GraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node_handle,
                                                CUgraph child_handle) {
  const EngineLock lock;
  GraphExec* exec = nullptr;
  GraphNode* node = nullptr;
  Graph* child = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(NodeOf(node_handle, &node));
  CUHEAP_SIM_TRY(GraphOf(child_handle, &child));
  return ChangeChild(exec, *node, *child);
}

CUresult face::GraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned enabled) {
  const EngineLock lock;
  GraphExec* exec = nullptr;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(NodeOf(node_handle, &node));
  return EnableNode(exec, *node, enabled != 0);
}

CUresult face::GraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  GraphExec* exec = nullptr;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(NodeOf(node_handle, &node));
  bool enabled = false;
  CUHEAP_SIM_TRY(IsNodeEnabled(*exec, *node, &enabled));
  *out = enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
