// Events.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/memory_pool.h"

namespace cuheap::sim {
namespace {

CUresult EventOf(CUevent handle, Event** out) {
  *out = Events().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

// What asks or waits for an event may not meet a capture.
CUresult MayAskFor(CUevent handle, Event** event) {
  CUHEAP_SIM_TRY(EventOf(handle, event));
  if ((*event)->capture_id.load() != 0) {
    const EngineLock lock;
    InvalidateCaptureOf(*event);
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return CheckUnsafeCall();
}

}  // namespace

CUresult face::EventCreate(CUevent* out, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  Event* event = nullptr;
  CUHEAP_SIM_TRY(NewEvent(context, flags, &event));
  *out = Cast<CUevent>(event);
  return CUDA_SUCCESS;
}

CUresult face::EventDestroy(CUevent handle) { return EventDestroy_v2(handle); }
CUresult face::EventDestroy_v2(CUevent handle) {
  Event* event = nullptr;
  CUHEAP_SIM_TRY(EventOf(handle, &event));
  const EngineLock lock;
  Events().Delete(event);
  return CUDA_SUCCESS;
}

CUresult face::EventRecord(CUevent handle, CUstream stream) {
  return EventRecordWithFlags(handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult face::EventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  Event* event = nullptr;
  CUHEAP_SIM_TRY(EventOf(handle, &event));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(stream_handle, &stream));
  return RecordEvent(stream, event, flags == CU_EVENT_RECORD_EXTERNAL);
}

CUresult face::EventQuery(CUevent handle) {
  Event* event = nullptr;
  CUHEAP_SIM_TRY(MayAskFor(handle, &event));
  const CUresult broken = event->context->broken;
  return broken == CUDA_SUCCESS ? QueryEvent(event) : broken;
}

CUresult face::EventSynchronize(CUevent handle) {
  Event* event = nullptr;
  CUHEAP_SIM_TRY(MayAskFor(handle, &event));
  WaitForEvent(event);
  TrimAtSynchronization(event->context->device);
  return event->context->broken;
}

CUresult face::EventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return EventElapsedTime_v2(milliseconds, start, end);
}
CUresult face::EventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  CUHEAP_SIM_TRY(NeedPointers(milliseconds));
  Event* from = nullptr;
  Event* to = nullptr;
  CUHEAP_SIM_TRY(EventOf(start, &from));
  CUHEAP_SIM_TRY(EventOf(end, &to));
  return ElapsedTime(milliseconds, from, to);
}

}  // namespace cuheap::sim
