// Streams.
#include <memory>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/green_context.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

// A stream of a broken context can still be destroyed.
CUresult OwnStream(CUstream handle, Stream** out) {
  *out = Streams().Find(handle);
  if (*out == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return (*out)->context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// What asks or waits for a stream may not meet a capture.
CUresult MayAskFor(CUstream handle, Stream** out) {
  CUHEAP_SIM_TRY(StreamOf(handle, out));
  if (!AnyCapture()) return CUDA_SUCCESS;
  const EngineLock lock;
  return RefuseOn(*out);
}

struct Callback {
  CUstreamCallback function;
  CUstream stream;
  void* data;
  const Context* context;  // never destroyed
};

void RunCallback(void* opaque) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(opaque));
  callback->function(callback->stream, callback->context->broken, callback->data);
}

}  // namespace

CUresult face::StreamCreate(CUstream* out, unsigned flags) {
  return StreamCreateWithPriority(out, flags, 0);
}

CUresult face::StreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  *out = Cast<CUstream>(NewStream(context, flags, ClampPriority(priority)));
  return CUDA_SUCCESS;
}

CUresult face::StreamDestroy(CUstream handle) { return StreamDestroy_v2(handle); }
CUresult face::StreamDestroy_v2(CUstream handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(OwnStream(handle, &stream));
  if (stream->is_legacy()) return CUDA_ERROR_INVALID_HANDLE;
  DestroyStream(stream);
  return CUDA_SUCCESS;
}

CUresult face::StreamQuery(CUstream handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(MayAskFor(handle, &stream));
  return IsDone(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult face::StreamSynchronize(CUstream handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(MayAskFor(handle, &stream));
  WaitForStream(stream);
  TrimAtSynchronization(stream->context->device);
  return stream->context->broken;
}

CUresult face::StreamGetPriority(CUstream handle, int* priority) {
  CUHEAP_SIM_TRY(NeedPointers(priority));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetId(CUstream handle, unsigned long long* id) {
  CUHEAP_SIM_TRY(NeedPointers(id));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetFlags(CUstream handle, unsigned* flags) {
  CUHEAP_SIM_TRY(NeedPointers(flags));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetDevice(CUstream handle, CUdevice* device) {
  CUHEAP_SIM_TRY(NeedPointers(device));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *device = stream->context->device;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetCtx(CUstream handle, CUcontext* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *out = HandleOf(stream->context);
  return CUDA_SUCCESS;
}

CUresult face::StreamGetCtx_v2(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  *out = HandleOf(RootOf(stream->context));
  WriteIfAsked(green, Cast<CUgreenCtx>(GreenOf(*stream->context)));
  return CUDA_SUCCESS;
}

CUresult face::StreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  Event* event = Events().Find(event_handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return WaitEvent(stream, event, flags == CU_EVENT_WAIT_EXTERNAL);
}

CUresult face::StreamAddCallback(CUstream handle, CUstreamCallback function, void* data,
                                 unsigned flags) {
  if (function == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(MayAskFor(handle, &stream));  // refused in captures, unlike a host function
  auto* callback = new Callback{function, handle, data, stream->context};
  return Submit(stream, HostOp{RunCallback, callback, HostCall::kCallback});
}

CUresult face::LaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return Submit(stream, HostOp{function, data});
}

}  // namespace cuheap::sim
