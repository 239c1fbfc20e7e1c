// What a node's parameters mean to the engine.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

CUresult EventIn(CUevent handle, Event** out) {
  *out = Events().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

template <class Parameters>
CUresult AllocationOf(const Parameters& parameters, Operation* out) {
  const CUmemPoolProps& properties = parameters.poolProps;
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUHEAP_SIM_TRY(NeedDevice(properties.location.id));
  if (parameters.accessDescCount != 0) CUHEAP_SIM_TRY(NeedPointers(parameters.accessDescs));
  const EngineLock lock;
  AllocOp allocation;
  CUHEAP_SIM_TRY(NewGraphMemory(properties.location.id, parameters.bytesize, &allocation.memory));
  allocation.memory->properties = properties;
  allocation.memory->access.assign(parameters.accessDescs,
                                   parameters.accessDescs + parameters.accessDescCount);
  *out = std::move(allocation);
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult KernelOf(const Parameters& parameters, CUkernel kernel, Operation* out) {
  if (parameters.kernelParams != nullptr && parameters.extra != nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Function* function = parameters.func != nullptr ? Cast<Function*>(parameters.func)
                                                  : reinterpret_cast<Function*>(kernel);
  const KernelOp launch{function,
                        {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                        {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                        parameters.sharedMemBytes};
  CUHEAP_SIM_TRY(CheckLaunch(launch, false));
  *out = launch;
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult FillOf(const Parameters& parameters, Operation* out) {
  const unsigned element = parameters.elementSize;
  if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
  *out = FillOp{parameters.dst, parameters.pitch, parameters.value,
                element,        parameters.width, parameters.height};
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult HostOf(const Parameters& parameters, Operation* out) {
  if (parameters.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = HostOp{parameters.fn, parameters.userData};
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult ConditionalOf(const Parameters& parameters, Operation* out) {
  const EngineLock lock;
  Context* context = FindContext(parameters.ctx);
  if (parameters.ctx == nullptr) CUHEAP_SIM_TRY(CurrentContext(&context));
  ConditionalOp conditional;
  CUHEAP_SIM_TRY(MakeConditional(FindConditionalHandle(parameters.handle), context, parameters.type,
                                 parameters.size, &conditional));
  *out = std::move(conditional);
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult BatchNodeOf(const Parameters& parameters, Operation* out) {
  BatchOp batch;
  CUHEAP_SIM_TRY(BatchOf(parameters.paramArray, parameters.count, parameters.flags, &batch));
  if (parameters.ctx != nullptr && FindContext(parameters.ctx) == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  batch.context = parameters.ctx;
  *out = std::move(batch);
  return CUDA_SUCCESS;
}

bool IsZero(const CUgraphNodeParams& parameters) {
  const auto& words = parameters.reserved0;
  return words[0] == 0 && words[1] == 0 && words[2] == 0 && parameters.reserved2 == 0;
}

template <class Op>
CUresult EventOpOf(CUevent handle, Operation* out) {
  Event* event = nullptr;
  CUHEAP_SIM_TRY(EventIn(handle, &event));
  *out = Op{event};
  return CUDA_SUCCESS;
}

}  // namespace

CUresult RecordOperationOf(CUevent event, Operation* out) {
  return EventOpOf<RecordOp>(event, out);
}
CUresult WaitOperationOf(CUevent event, Operation* out) { return EventOpOf<WaitOp>(event, out); }

CUresult OperationOf(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, Operation* out) {
  return AllocationOf(parameters, out);
}
CUresult OperationOf(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, Operation* out) {
  return BatchNodeOf(parameters, out);
}

// Cloned, or taken from the application: then its handle names the graph inside the node.
CUresult ChildOperationOf(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                          Operation* out) {
  const EngineLock lock;
  Graph* graph = FindGraph(handle);
  if (graph == nullptr || HasConditionals(*graph)) return CUDA_ERROR_INVALID_VALUE;
  ChildOp child;
  if (ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    if (graph->self == nullptr || NodeOnCycle(*graph) != nullptr) return CUDA_ERROR_INVALID_VALUE;
    child.graph = graph->self;
  } else {
    const bool clones = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    if (!clones || HasMemoryNodes(*graph)) return CUDA_ERROR_INVALID_VALUE;
    child.graph = CopyGraph(*graph);
    if (child.graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    child.graph->place = GraphPlace::kChild;
  }
  *out = std::move(child);
  return CUDA_SUCCESS;
}

CUresult OperationOf(const CUDA_KERNEL_NODE_PARAMS& parameters, Operation* out) {
  return KernelOf(parameters, parameters.kern, out);
}
CUresult OperationOf(const CUDA_MEMSET_NODE_PARAMS& parameters, Operation* out) {
  return FillOf(parameters, out);
}
CUresult OperationOf(const CUDA_HOST_NODE_PARAMS& parameters, Operation* out) {
  return HostOf(parameters, out);
}
CUresult OperationOf(const CUDA_MEMCPY3D& parameters, Operation* out) {
  CopyOp copy;
  CUHEAP_SIM_TRY(BoxCopy(parameters, &copy));
  *out = copy;
  return CUDA_SUCCESS;
}

CUresult OperationOf(const CUgraphNodeParams& parameters, Operation* out) {
  if (!IsZero(parameters)) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return KernelOf(parameters.kernel, parameters.kernel.kern, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return OperationOf(parameters.memcpy.copyParams, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return FillOf(parameters.memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
      return HostOf(parameters.host, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return ChildOperationOf(parameters.graph.graph, parameters.graph.ownership, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = EmptyOp{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return RecordOperationOf(parameters.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return WaitOperationOf(parameters.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return AllocationOf(parameters.alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      *out = FreeOp{parameters.free.dptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return BatchNodeOf(parameters.memOp, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return ConditionalOf(parameters.conditional, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return NotSimulated("a graph node of external semaphores");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace cuheap::sim
