// Semaphores imported from other interfaces: in streams, and in graphs as nodes.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/external_semaphore.h"

namespace cuheap::sim {
namespace {

// Handles of Windows, of Direct3D and of NvSciSync belong to platforms that are not this one.
CUresult CheckType(CUexternalSemaphoreHandleType type) {
  if (type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
      type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD) {
    return CUDA_SUCCESS;
  }
  const bool known = type > CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
                     type <= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32;
  return known ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult BatchOf(const CUexternalSemaphore* handles,
                 const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                 BatchOp* out) {
  return SignalsOf(handles, parameters, count, out);
}
CUresult BatchOf(const CUexternalSemaphore* handles,
                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                 BatchOp* out) {
  return WaitsOf(handles, parameters, count, out);
}

// `flags` of a parameter are for NvSciSync alone.
template <class Parameters>
CUresult Describe(const CUexternalSemaphore* handles, const Parameters* parameters, unsigned count,
                  BatchOp* out) {
  CUHEAP_SIM_TRY(NeedPointers(handles, parameters));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i)
    if (parameters[i].flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return BatchOf(handles, parameters, count, out);
}

template <class Parameters>
CUresult InStream(const CUexternalSemaphore* handles, const Parameters* parameters, unsigned count,
                  CUstream handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  BatchOp batch;
  CUHEAP_SIM_TRY(Describe(handles, parameters, count, &batch));
  batch.context = HandleOf(stream->context);
  return Submit(stream, std::move(batch));
}

template <class Parameters>
CUresult NodeWorkOf(const Parameters& parameters, NodeWork* out) {
  BatchOp batch;
  CUHEAP_SIM_TRY(
      Describe(parameters.extSemArray, parameters.paramsArray, parameters.numExtSems, &batch));
  CUHEAP_SIM_TRY(NodeContextOf(nullptr, &out->context));
  batch.context = HandleOf(out->context);
  out->operation = std::move(batch);
  return CUDA_SUCCESS;
}

// nullptr: not such a node.
const SemaphoreBatch* BatchIn(CUgraphNode node, bool waits) {
  const auto* batch = OperationIn<BatchOp>(node);
  const bool fits =
      batch != nullptr && batch->semaphores != nullptr && batch->semaphores->waits == waits;
  return fits ? batch->semaphores.get() : nullptr;
}

// The array of handles is the node's; the interface has no const for it.
CUexternalSemaphore* HandlesOf(const SemaphoreBatch& batch) {
  return const_cast<CUexternalSemaphore*>(batch.handles.data());
}

}  // namespace

CUresult WorkOf(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& parameters, NodeWork* out) {
  return NodeWorkOf(parameters, out);
}
CUresult WorkOf(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& parameters, NodeWork* out) {
  return NodeWorkOf(parameters, out);
}
CUresult WorkOf(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2& parameters, NodeWork* out) {
  return NodeWorkOf(parameters, out);
}
CUresult WorkOf(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2& parameters, NodeWork* out) {
  return NodeWorkOf(parameters, out);
}

CUresult face::ImportExternalSemaphore(CUexternalSemaphore* out,
                                       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(CheckType(description->type));
  if (description->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  ExternalSemaphore* semaphore = nullptr;
  const bool timeline = description->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  CUHEAP_SIM_TRY(ImportSemaphore(description->handle.fd, timeline, &semaphore));
  *out = Cast<CUexternalSemaphore>(semaphore);
  return CUDA_SUCCESS;
}

CUresult face::SignalExternalSemaphoresAsync(
    const CUexternalSemaphore* handles, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters,
    unsigned count, CUstream stream) {
  return InStream(handles, parameters, count, stream);
}

CUresult face::WaitExternalSemaphoresAsync(const CUexternalSemaphore* handles,
                                           const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters,
                                           unsigned count, CUstream stream) {
  return InStream(handles, parameters, count, stream);
}

CUresult face::DestroyExternalSemaphore(CUexternalSemaphore handle) {
  ExternalSemaphore* semaphore = FindSemaphore(handle);
  if (semaphore == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  DestroySemaphore(semaphore);
  return CUDA_SUCCESS;
}

CUresult face::GraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node,
                                                          CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* out) {
  const SemaphoreBatch* batch = BatchIn(node, false);
  CUHEAP_SIM_TRY(NeedPointers(batch, out));
  *out = {HandlesOf(*batch), batch->signals.data(), static_cast<unsigned>(batch->handles.size())};
  return CUDA_SUCCESS;
}

CUresult face::GraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node,
                                                        CUDA_EXT_SEM_WAIT_NODE_PARAMS* out) {
  const SemaphoreBatch* batch = BatchIn(node, true);
  CUHEAP_SIM_TRY(NeedPointers(batch, out));
  *out = {HandlesOf(*batch), batch->conditions.data(),
          static_cast<unsigned>(batch->handles.size())};
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
