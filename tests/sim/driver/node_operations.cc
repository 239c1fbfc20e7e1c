// What a node's parameters mean to the engine.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

CUresult EventIn(CUevent handle, Event** out) {
  *out = Events().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

template <class Parameters>
CUresult AllocationOf(Parameters* parameters, Operation* out) {
  const CUmemLocation& location = parameters->poolProps.location;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(NeedDevice(location.id));
  const EngineLock lock;
  AllocOp allocation;
  CUHEAP_SIM_TRY(MakeAllocOp(location.id, parameters->bytesize, &allocation));
  parameters->dptr = allocation.memory->region.base;
  *out = std::move(allocation);
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult KernelOf(const Parameters& parameters, CUkernel kernel, Operation* out) {
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

CUresult OperationOf(CUDA_MEM_ALLOC_NODE_PARAMS* parameters, Operation* out) {
  return AllocationOf(parameters, out);
}

CUresult ChildOperationOf(CUgraph handle, Operation* out) {
  const EngineLock lock;
  const Graph* graph = FindGraph(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  ChildOp child{CloneGraph(*graph)};
  if (child.graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
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

CUresult OperationOf(CUgraphNodeParams* parameters, Operation* out) {
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return KernelOf(parameters->kernel, parameters->kernel.kern, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return OperationOf(parameters->memcpy.copyParams, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return FillOf(parameters->memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
      return HostOf(parameters->host, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return ChildOperationOf(parameters->graph.graph, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = EmptyOp{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return RecordOperationOf(parameters->eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return WaitOperationOf(parameters->eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return AllocationOf(&parameters->alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      *out = FreeOp{parameters->free.dptr};
      return CUDA_SUCCESS;
    default:
      return NotSimulated("cuGraphAddNode of a batch, semaphore or conditional node");
  }
}

}  // namespace cuheap::sim
