// Adding nodes to graphs.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUresult Add(CUgraphNode* out, CUgraph handle, const CUgraphNode* after, size_t count,
             Operation operation) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Graph* graph = FindGraph(handle);
  if (graph == nullptr || (after == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> list;
  for (size_t i = 0; i < count; ++i) list.push_back(Cast<GraphNode*>(after[i]));
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(AddNode(graph, std::move(list), std::move(operation), &node));
  *out = Cast<CUgraphNode>(node);
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult AddOf(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
               const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  Operation operation;
  CUHEAP_SIM_TRY(OperationOf(*parameters, &operation));
  return Add(out, graph, after, count, std::move(operation));
}

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
  return parameters;
}

}  // namespace

CUresult face::GraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                               const CUgraphEdgeData*, size_t count,
                               CUgraphNodeParams* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(out, parameters));
  Operation operation;
  CUHEAP_SIM_TRY(OperationOf(parameters, &operation));
  return Add(out, graph, after, count, std::move(operation));
}
CUresult face::GraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                            CUgraphNodeParams* parameters) {
  return GraphAddNode_v2(out, graph, after, nullptr, count, parameters);
}
CUresult face::GraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                 size_t count) {
  return Add(out, graph, after, count, EmptyOp{});
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
                                  size_t count, const CUDA_MEMCPY3D* parameters, CUcontext) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                                  CUcontext) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  return AddOf(out, graph, after, count, parameters);
}
CUresult face::GraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      size_t count, CUgraph child) {
  Operation operation;
  CUHEAP_SIM_TRY(ChildOperationOf(child, &operation));
  return Add(out, graph, after, count, std::move(operation));
}
CUresult face::GraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                       size_t count, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(RecordOperationOf(event, &operation));
  return Add(out, graph, after, count, std::move(operation));
}
CUresult face::GraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     size_t count, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(WaitOperationOf(event, &operation));
  return Add(out, graph, after, count, std::move(operation));
}
CUresult face::GraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                    size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  Operation operation;
  CUHEAP_SIM_TRY(OperationOf(parameters, &operation));
  return Add(out, graph, after, count, std::move(operation));
}
CUresult face::GraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUdeviceptr address) {
  return Add(out, graph, after, count, FreeOp{address});
}

}  // namespace cuheap::sim
