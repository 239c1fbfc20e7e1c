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

// A function of a module runs in the module's context, a kernel where the parameters say.
CUresult KernelContextOf(const Function& function, bool as_kernel, CUcontext handle,
                         Context** out) {
  *out = function.module->context;
  if (*out != nullptr) return CUDA_SUCCESS;
  if (as_kernel) return NodeContextOf(handle, out);
  Context* current = TopContext();
  if (current != nullptr && current->alive) *out = current;
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult KernelOf(const Parameters& parameters, NodeWork* out) {
  if (parameters.kernelParams != nullptr && parameters.extra != nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool as_kernel = parameters.func == nullptr;
  Function* function =
      as_kernel ? Cast<Function*>(parameters.kern) : Cast<Function*>(parameters.func);
  const KernelOp launch{function,
                        {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                        {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                        parameters.sharedMemBytes};
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckLaunch(launch, false));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(KernelContextOf(*function, as_kernel, parameters.ctx, &context));
  *out = {launch, context};
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
CUresult BatchNodeOf(const Parameters& parameters, NodeWork* out) {
  BatchOp batch;
  CUHEAP_SIM_TRY(BatchOf(parameters.paramArray, parameters.count, parameters.flags, &batch));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(NodeContextOf(parameters.ctx, &context));
  batch.context = parameters.ctx;
  *out = {std::move(batch), context};
  return CUDA_SUCCESS;
}

template <class Op>
CUresult EventOpOf(CUevent handle, Operation* out) {
  Event* event = nullptr;
  CUHEAP_SIM_TRY(EventIn(handle, &event));
  *out = Op{event};
  return CUDA_SUCCESS;
}

// Of nodes that run in no context, or know theirs.
CUresult OperationOf(const CUgraphNodeParams& parameters, Operation* out) {
  switch (parameters.type) {
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
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      *out = FreeOp{parameters.free.dptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return ConditionalOf(parameters.conditional, out);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult NodeContextOf(CUcontext handle, Context** out) {
  if (handle == nullptr) return CurrentContext(out);
  Context* context = FindContext(handle);
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  *out = context;
  return CUDA_SUCCESS;
}

CUresult RecordOperationOf(CUevent event, Operation* out) {
  return EventOpOf<RecordOp>(event, out);
}
CUresult WaitOperationOf(CUevent event, Operation* out) { return EventOpOf<WaitOp>(event, out); }

CUresult WorkOf(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, NodeWork* out) {
  return BatchNodeOf(parameters, out);
}

// Cloned, or taken from the application: then its handle names the graph inside the node.
CUresult ChildOperationOf(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                          Operation* out) {
  const EngineLock lock;
  Graph* graph = FindGraph(handle);
  const bool fit = graph != nullptr && graph->place != GraphPlace::kMovedChild;
  if (!fit || HasConditionals(*graph)) return CUDA_ERROR_INVALID_VALUE;
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

CUresult WorkOf(const CUDA_KERNEL_NODE_PARAMS& parameters, NodeWork* out) {
  return KernelOf(parameters, out);
}
CUresult WorkOf(const CUDA_MEMSET_NODE_PARAMS& parameters, NodeWork* out) {
  return FillOf(parameters, &out->operation);
}
CUresult WorkOf(const CUDA_HOST_NODE_PARAMS& parameters, NodeWork* out) {
  return HostOf(parameters, &out->operation);
}
CUresult WorkOf(const CUDA_MEMCPY3D& parameters, NodeWork* out) {
  CopyOp copy;
  CUHEAP_SIM_TRY(BoxCopy(parameters, &copy));
  copy.box = std::make_shared<const CUDA_MEMCPY3D>(parameters);
  out->operation = std::move(copy);
  return CUDA_SUCCESS;
}

CUresult WorkOf(const CUgraphNodeParams& parameters, NodeWork* out) {
  if (!AreUnusedBytesZero(parameters)) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return KernelOf(parameters.kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      CUHEAP_SIM_TRY(NodeContextOf(parameters.memcpy.copyCtx, &out->context));
      return WorkOf(parameters.memcpy.copyParams, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return WorkOf(parameters.extSemSignal, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return WorkOf(parameters.extSemWait, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      CUHEAP_SIM_TRY(NodeContextOf(parameters.memset.ctx, &out->context));
      return FillOf(parameters.memset, &out->operation);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return BatchNodeOf(parameters.memOp, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return WorkOf(parameters.alloc, out);
    default:
      return OperationOf(parameters, &out->operation);
  }
}

}  // namespace cuheap::sim
