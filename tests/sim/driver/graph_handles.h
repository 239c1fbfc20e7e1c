// Graphs and nodes behind handles; nodes as the API describes them and as the engine keeps them.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

inline CUresult GraphOf(CUgraph handle, Graph** out) {
  *out = FindGraph(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

inline CUresult NodeOf(CUgraphNode handle, GraphNode** out) {
  *out = Nodes().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

inline CUresult ExecOf(CUgraphExec handle, GraphExec** out) {
  *out = Execs().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

bool AreUnusedBytesZero(const CUgraphNodeParams& parameters);
// What the parameters name no context for gets none.
CUresult WorkOf(const CUgraphNodeParams& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_KERNEL_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_MEMSET_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_MEMCPY3D& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_HOST_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& parameters, NodeWork* out);
CUresult WorkOf(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2& parameters, NodeWork* out);
// The context that a node is to run in; NULL is the current one. INVALID_CONTEXT: none, or not
// alive.
CUresult NodeContextOf(CUcontext handle, Context** out);
CUresult RecordOperationOf(CUevent event, Operation* out);
CUresult WaitOperationOf(CUevent event, Operation* out);
CUresult ChildOperationOf(CUgraph graph, CUgraphChildGraphNodeOwnership ownership, Operation* out);
// A batch of a stream or a node, all of it checked.
CUresult BatchOf(const CUstreamBatchMemOpParams* list, unsigned count, unsigned flags,
                 BatchOp* out);

// Those attributes of a captured launch that nodes have.
void KeepAttributes(const CUlaunchAttribute* list, unsigned count, GraphNode* node);

CUDA_KERNEL_NODE_PARAMS Newer(const CUDA_KERNEL_NODE_PARAMS_v1& old);

// INVALID_VALUE: nodes are missing, or one is named twice. `edges`: none, then all are plain.
CUresult DependenciesOf(const CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count,
                        Dependencies* out);

// The node behind a handle, if it has the type.
template <class Op>
Op* OperationIn(CUgraphNode handle) {
  GraphNode* node = Nodes().Find(handle);
  return node == nullptr ? nullptr : std::get_if<Op>(&node->operation);
}

}  // namespace cuheap::sim
