// Contexts: primary ones, own ones, each thread's stack.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

// At most one way of waiting may be chosen.
CUresult CheckFlags(unsigned flags) {
  const unsigned waiting = flags & CU_CTX_SCHED_MASK;
  const bool one_at_most = (waiting & (waiting - 1)) == 0;
  return one_at_most && (flags & ~CU_CTX_FLAGS_MASK) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult Create(CUcontext* out, unsigned flags, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(CheckFlags(flags));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CreateContext(device, flags, &context));
  *out = HandleOf(context);
  return CUDA_SUCCESS;
}

// Only under a multi-process service may a context be bound to a part of the multiprocessors.
CUresult CheckAffinity(const CUexecAffinityParam* parameters, int count) {
  if (count == 0) return CUDA_SUCCESS;
  if (count < 0 || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult Alive(CUcontext handle, Context** out) {
  Context* context = FindContext(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = context;
  return CUDA_SUCCESS;
}

// A primary context may be made current before it comes to life; one that was destroyed may not.
CUresult MayBeCurrent(CUcontext handle, Context** out) {
  *out = FindContext(handle);
  const bool may = *out != nullptr && ((*out)->primary || (*out)->alive);
  return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult Synchronize(Context* context) {
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  WaitForContext(context);
  TrimAtSynchronization(context->device);
  return context->broken;
}

}  // namespace

CUresult face::DevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(RetainPrimary(device, &context));
  *out = HandleOf(context);
  return CUDA_SUCCESS;
}

CUresult face::DevicePrimaryCtxRelease(CUdevice device) {
  return DevicePrimaryCtxRelease_v2(device);
}
CUresult face::DevicePrimaryCtxRelease_v2(CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (PrimaryReferences(device) == 1) WaitForDevice(device);
  return ReleasePrimary(device);
}

CUresult face::DevicePrimaryCtxReset(CUdevice device) { return DevicePrimaryCtxReset_v2(device); }
CUresult face::DevicePrimaryCtxReset_v2(CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  WaitForDevice(device);
  return ResetPrimary(device);
}

CUresult face::DevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return DevicePrimaryCtxSetFlags_v2(device, flags);
}
CUresult face::DevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(CheckFlags(flags));
  return SetPrimaryFlags(device, flags);
}

CUresult face::DevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  PrimaryState(device, flags, active);
  return CUDA_SUCCESS;
}

CUresult face::CtxCreate(CUcontext* out, unsigned flags, CUdevice device) {
  return CtxCreate_v2(out, flags, device);
}
CUresult face::CtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return Create(out, flags, device);
}
CUresult face::CtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count,
                            unsigned flags, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(CheckAffinity(affinity, count));
  return Create(out, flags, device);
}
CUresult face::CtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned flags,
                            CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (parameters != nullptr) {
    if (parameters->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    CUHEAP_SIM_TRY(
        CheckAffinity(parameters->execAffinityParams, parameters->numExecAffinityParams));
  }
  return Create(out, flags, device);
}

CUresult face::CtxDestroy(CUcontext handle) { return CtxDestroy_v2(handle); }
CUresult face::CtxDestroy_v2(CUcontext handle) {
  Context* context = FindContext(handle);
  if (context == nullptr || !IsOwn(*context)) return CUDA_ERROR_INVALID_CONTEXT;
  WaitForContext(context);
  return DestroyContext(context);
}

CUresult face::CtxAttach(CUcontext* out, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(AttachContext(&context));
  *out = HandleOf(context);
  return CUDA_SUCCESS;
}

CUresult face::CtxDetach(CUcontext handle) {
  Context* context = FindContext(handle);
  if (context == nullptr || context != TopContext()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->references == 1) WaitForContext(context);
  return DetachContext(context);
}

CUresult face::CtxPushCurrent(CUcontext handle) { return CtxPushCurrent_v2(handle); }
CUresult face::CtxPushCurrent_v2(CUcontext handle) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(MayBeCurrent(handle, &context));
  return PushContext(context);
}

CUresult face::CtxPopCurrent(CUcontext* out) { return CtxPopCurrent_v2(out); }
CUresult face::CtxPopCurrent_v2(CUcontext* out) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PopContext(&context));
  WriteIfAsked(out, HandleOf(context));
  return CUDA_SUCCESS;
}

CUresult face::CtxSetCurrent(CUcontext handle) {
  if (handle == nullptr) return SetTopContext(nullptr);
  Context* context = nullptr;
  CUHEAP_SIM_TRY(MayBeCurrent(handle, &context));
  return SetTopContext(context);
}

CUresult face::CtxGetCurrent(CUcontext* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  *out = HandleOf(TopContext());
  return CUDA_SUCCESS;
}

CUresult face::CtxGetDevice(CUdevice* device) {
  CUHEAP_SIM_TRY(NeedPointers(device));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (handle == nullptr) return CtxGetDevice(device);
  CUHEAP_SIM_TRY(NeedPointers(device));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(Alive(handle, &context));
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetFlags(unsigned* flags) {
  CUHEAP_SIM_TRY(NeedPointers(flags));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult face::CtxSetFlags(unsigned flags) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  CUHEAP_SIM_TRY(CheckFlags(flags));
  context->flags = flags;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetId(CUcontext handle, unsigned long long* id) {
  CUHEAP_SIM_TRY(NeedPointers(id));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(handle == nullptr ? CurrentContext(&context) : Alive(handle, &context));
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetApiVersion(CUcontext handle, unsigned* version) {
  CUHEAP_SIM_TRY(NeedPointers(version));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(handle == nullptr ? CurrentContext(&context) : Alive(handle, &context));
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult face::CtxSynchronize() {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  return Synchronize(context);
}

CUresult face::CtxSynchronize_v2(CUcontext handle) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(handle == nullptr ? CurrentContext(&context) : Alive(handle, &context));
  return Synchronize(context);
}

}  // namespace cuheap::sim
