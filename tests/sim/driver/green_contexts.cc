// Green contexts and the resources they are made of; events of whole contexts.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/context_events.h"
#include "tests/sim/engine/green_context.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

CUresult GreenOfHandle(CUgreenCtx handle, GreenContext** out) {
  GreenContext* green = FindGreen(handle);
  if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (green->context == nullptr || !green->context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = green;
  return CUDA_SUCCESS;
}

CUresult ContextOfHandle(CUcontext handle, Context** out) {
  Context* context = FindContext(handle);
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  *out = context;
  return context->broken;
}

CUresult EventOfHandle(CUevent handle, Event** out) {
  *out = Events().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult NeedKnownType(CUdevResourceType type) {
  return type == CU_DEV_RESOURCE_TYPE_SM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

CUgreenCtx HandleOf(GreenContext* green) { return Cast<CUgreenCtx>(green); }

}  // namespace

CUresult face::DeviceGetDevResource(CUdevice device, CUdevResource* out, CUdevResourceType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(NeedKnownType(type));
  *out = ResourceOfDevice(device);
  return CUDA_SUCCESS;
}

CUresult face::CtxGetDevResource(CUcontext handle, CUdevResource* out, CUdevResourceType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(ContextOfHandle(handle, &context));
  CUHEAP_SIM_TRY(NeedKnownType(type));
  *out = ResourceOfContext(*context);
  return CUDA_SUCCESS;
}

CUresult face::GreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* out,
                                      CUdevResourceType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  CUHEAP_SIM_TRY(NeedKnownType(type));
  *out = green->resource;
  return CUDA_SUCCESS;
}

CUresult face::DevSmResourceSplitByCount(CUdevResource* result, unsigned* groups,
                                         const CUdevResource* input, CUdevResource* rest,
                                         unsigned flags, unsigned least) {
  constexpr unsigned kKnown = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                              CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  CUHEAP_SIM_TRY(NeedPointers(groups, input));
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  return SplitResource(*input, flags, least, groups, result, rest);
}

CUresult face::DevResourceGenerateDesc(CUdevResourceDesc* out, CUdevResource* resources,
                                       unsigned count) {
  CUHEAP_SIM_TRY(NeedPointers(out, resources));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  return DescribeResources(resources, count, out);
}

CUresult face::GreenCtxCreate(CUgreenCtx* out, CUdevResourceDesc description, CUdevice device,
                              unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(CreateGreen(description, device, &green));
  *out = HandleOf(green);
  return CUDA_SUCCESS;
}

CUresult face::GreenCtxDestroy(CUgreenCtx handle) {
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  WaitForContext(green->context);
  DestroyGreen(green);
  return CUDA_SUCCESS;
}

CUresult face::CtxFromGreenCtx(CUcontext* out, CUgreenCtx handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  *out = HandleOf(green->context);
  return CUDA_SUCCESS;
}

CUresult face::GreenCtxStreamCreate(CUstream* out, CUgreenCtx handle, unsigned flags,
                                    int priority) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *out = Cast<CUstream>(NewStream(green->context, flags, ClampPriority(priority)));
  return CUDA_SUCCESS;
}

CUresult face::GreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  CUHEAP_SIM_TRY(NeedPointers(id));
  GreenContext* green = nullptr;
  if (handle != nullptr) {
    CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  } else {
    Context* context = nullptr;
    CUHEAP_SIM_TRY(CurrentContext(&context));
    green = GreenOf(*context);
    if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  }
  *id = green->id;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetGreenCtx(CUstream handle, CUgreenCtx* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *out = HandleOf(GreenOf(*stream->context));
  return CUDA_SUCCESS;
}

CUresult face::CtxRecordEvent(CUcontext handle, CUevent event_handle) {
  Context* context = nullptr;
  Event* event = nullptr;
  CUHEAP_SIM_TRY(ContextOfHandle(handle, &context));
  CUHEAP_SIM_TRY(EventOfHandle(event_handle, &event));
  return RecordContext(context, event);
}

CUresult face::CtxWaitEvent(CUcontext handle, CUevent event_handle) {
  Context* context = nullptr;
  Event* event = nullptr;
  CUHEAP_SIM_TRY(ContextOfHandle(handle, &context));
  CUHEAP_SIM_TRY(EventOfHandle(event_handle, &event));
  return MakeContextWait(context, event);
}

CUresult face::GreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  return CtxRecordEvent(HandleOf(green->context), event);
}

CUresult face::GreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
  GreenContext* green = nullptr;
  CUHEAP_SIM_TRY(GreenOfHandle(handle, &green));
  return CtxWaitEvent(HandleOf(green->context), event);
}

}  // namespace cuheap::sim
