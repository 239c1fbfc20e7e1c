// Reading and changing the parameters of nodes.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/graph_memory.h"

namespace cuheap::sim {
namespace {

template <class Parameters>
CUresult SetOf(CUgraphNode handle, const Parameters* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  const EngineLock lock;
  GraphNode* node = Nodes().Find(handle);
  if (node == nullptr || NodeTypeOf(node->operation) != NodeTypeOf(work.operation)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TakeWork(node, std::move(work));
  return CUDA_SUCCESS;
}

template <class Parameters>
void Describe(const KernelOp& kernel, Parameters* out) {
  *out = Parameters{};
  out->func = Cast<CUfunction>(kernel.function);
  out->gridDimX = kernel.grid[0];
  out->gridDimY = kernel.grid[1];
  out->gridDimZ = kernel.grid[2];
  out->blockDimX = kernel.block[0];
  out->blockDimY = kernel.block[1];
  out->blockDimZ = kernel.block[2];
  out->sharedMemBytes = kernel.shared_bytes;
}

bool CanChange(CUgraphNodeType type) {
  return type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
         type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult SetEvent(CUgraphNode handle, Operation operation) {
  const EngineLock lock;
  GraphNode* node = Nodes().Find(handle);
  if (node == nullptr || NodeTypeOf(node->operation) != NodeTypeOf(operation)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  node->operation = std::move(operation);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::GraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const EngineLock lock;
  GraphNode* node = Nodes().Find(handle);
  if (node == nullptr || NodeTypeOf(node->operation) != parameters->type) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!CanChange(parameters->type)) return CUDA_ERROR_NOT_SUPPORTED;
  NodeWork work;
  CUHEAP_SIM_TRY(WorkOf(*parameters, &work));
  if (const auto* child = std::get_if<ChildOp>(&work.operation)) {
    const Graph& old = *std::get<ChildOp>(node->operation).graph;
    const bool moved = child->graph->self != nullptr;
    if (moved || IsCapturedInto(old)) return CUDA_ERROR_INVALID_VALUE;
  }
  TakeWork(node, std::move(work));
  return CUDA_SUCCESS;
}
CUresult face::GraphKernelNodeSetParams_v2(CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphKernelNodeSetParams(CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const CUDA_KERNEL_NODE_PARAMS newer = Newer(*parameters);
  return SetOf(node, &newer);
}
CUresult face::GraphBatchMemOpNodeSetParams(CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(RecordOperationOf(event, &operation));
  return SetEvent(node, std::move(operation));
}
CUresult face::GraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  Operation operation;
  CUHEAP_SIM_TRY(WaitOperationOf(event, &operation));
  return SetEvent(node, std::move(operation));
}
CUresult face::GraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphMemsetNodeSetParams(CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}

// PARTIAL: kernelParams and extra are NULL: images are not read, so nobody knows what to keep.
CUresult face::GraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  const auto* kernel = OperationIn<KernelOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(kernel, out));
  Describe(*kernel, out);
  return CUDA_SUCCESS;
}
// PARTIAL: kernelParams and extra are NULL: images are not read, so nobody knows what to keep.
CUresult face::GraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  const auto* kernel = OperationIn<KernelOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(kernel, out));
  Describe(*kernel, out);
  return CUDA_SUCCESS;
}
CUresult face::GraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  const auto* copy = OperationIn<CopyOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(copy, out));
  *out = DescribeBox(*copy);
  return CUDA_SUCCESS;
}
CUresult face::GraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  const auto* fill = OperationIn<FillOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(fill, out));
  *out = CUDA_MEMSET_NODE_PARAMS{fill->to,      fill->pitch, fill->value,
                                 fill->element, fill->width, fill->height};
  return CUDA_SUCCESS;
}
CUresult face::GraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* out) {
  const auto* host = OperationIn<HostOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(host, out));
  out->fn = host->function;
  out->userData = host->data;
  return CUDA_SUCCESS;
}
CUresult face::GraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* out) {
  const auto* child = OperationIn<ChildOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(child, out));
  *out = Cast<CUgraph>(child->graph.get());
  return CUDA_SUCCESS;
}
CUresult face::GraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* out) {
  const auto* record = OperationIn<RecordOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(record, out));
  *out = Cast<CUevent>(record->event);
  return CUDA_SUCCESS;
}
CUresult face::GraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* out) {
  const auto* wait = OperationIn<WaitOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(wait, out));
  *out = Cast<CUevent>(wait->event);
  return CUDA_SUCCESS;
}
CUresult face::GraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  const auto* allocation = OperationIn<AllocOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(allocation, out));
  const GraphMemory& memory = *allocation->memory;
  *out = CUDA_MEM_ALLOC_NODE_PARAMS{};
  out->poolProps = memory.properties;
  out->accessDescs = memory.access.empty() ? nullptr : memory.access.data();
  out->accessDescCount = memory.access.size();
  out->bytesize = memory.bytes;
  out->dptr = memory.region.base;
  return CUDA_SUCCESS;
}
CUresult face::GraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  auto* batch = OperationIn<BatchOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(batch, out));
  if (batch->semaphores != nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = {batch->context, static_cast<unsigned>(batch->list.size()), batch->list.data(), 0};
  return CUDA_SUCCESS;
}
CUresult face::GraphExternalSemaphoresSignalNodeSetParams(
    CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphExternalSemaphoresWaitNodeSetParams(
    CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters) {
  return SetOf(node, parameters);
}
CUresult face::GraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* out) {
  const auto* free = OperationIn<FreeOp>(node);
  CUHEAP_SIM_TRY(NeedPointers(free, out));
  *out = free->address;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
