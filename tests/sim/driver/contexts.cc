// Contexts: primary ones, own ones, each thread's stack.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

CUresult Create(CUcontext* out, unsigned flags, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if ((flags & ~CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CreateContext(device, flags, &context));
  *out = HandleOf(context);
  return CUDA_SUCCESS;
}

CUresult Alive(CUcontext handle, Context** out) {
  Context* context = FindContext(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = context;
  return CUDA_SUCCESS;
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
  WaitForDevice(device);
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
  if ((flags & ~CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
  return SetPrimaryFlags(device, flags);
}

CUresult face::DevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  PrimaryState(device, flags, active);
  return CUDA_SUCCESS;
}

CUresult face::CtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return Create(out, flags, device);
}
CUresult face::CtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count,
                            unsigned flags, CUdevice device) {
  if (affinity != nullptr || count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return Create(out, flags, device);
}
CUresult face::CtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned flags,
                            CUdevice device) {
  if (parameters != nullptr && parameters->execAffinityParams != nullptr) {
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  }
  return Create(out, flags, device);
}

CUresult face::CtxDestroy(CUcontext handle) { return CtxDestroy_v2(handle); }
CUresult face::CtxDestroy_v2(CUcontext handle) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(Alive(handle, &context));
  WaitForContext(context);
  return DestroyContext(context);
}

CUresult face::CtxPushCurrent(CUcontext handle) { return CtxPushCurrent_v2(handle); }
CUresult face::CtxPushCurrent_v2(CUcontext handle) {
  Context* context = FindContext(handle);
  return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : PushContext(context);
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
  Context* context = FindContext(handle);
  return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : SetTopContext(context);
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

CUresult face::CtxSetLimit(CUlimit limit, size_t value) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetLimit(size_t* value, CUlimit limit) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = context->limits[limit];
  return CUDA_SUCCESS;
}

CUresult face::CtxGetCacheConfig(CUfunc_cache* config) {
  CUHEAP_SIM_TRY(NeedPointers(config));
  CUHEAP_SIM_TRY(NeedContext());
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

// A preference of the hardware; nothing here can tell the difference.
CUresult face::CtxSetCacheConfig(CUfunc_cache) { return NeedContext(); }
CUresult face::CtxResetPersistingL2Cache() { return NeedContext(); }

CUresult face::CtxGetStreamPriorityRange(int* least, int* greatest) {
  CUHEAP_SIM_TRY(NeedContext());
  WriteIfAsked(least, kLowestPriority);
  WriteIfAsked(greatest, kHighestPriority);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
