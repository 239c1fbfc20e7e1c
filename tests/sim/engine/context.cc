#include "tests/sim/engine/context.h"

#include "tests/sim/engine/array.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {
namespace {

constexpr int kMaxDepth = 64;

struct ContextStack {
  Context* entries[kMaxDepth];
  int depth;
};
thread_local constinit ContextStack stack{};

std::atomic<std::uint64_t> created{0};
Context* primaries[kMaxDevices];  // guarded by the engine's lock

HandlePool<Context>& Pool() {
  static auto& pool = *new HandlePool<Context>;
  return pool;
}

void SetLimits(Context* context) {
  context->limits[CU_LIMIT_STACK_SIZE] = 1024;
  context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
  context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

CUresult Activate(Context* context) {
  const std::uint64_t bytes = (TheSettings().context_memory + kPageBytes - 1) / kPageBytes;
  PhysicalPtr memory = AllocatePages(context->device, bytes * kPageBytes, MemoryKind::kContext);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  context->memory = std::move(memory);
  context->id = ++created;
  SetLimits(context);
  context->legacy_stream = NewStream(context, CU_STREAM_DEFAULT, 0);
  context->broken = CUDA_SUCCESS;
  context->alive = true;
  return CUDA_SUCCESS;
}

void Deactivate(Context* context) {
  context->alive = false;
  DestroyStreamsAndEventsOf(context);
  DestroyArraysOf(context);
  DiscardAllOf(context);
  EndGraphMemoryOf(context, context->device);
  context->legacy_stream = nullptr;
  context->memory.reset();
}

Context* Primary(int device) {
  if (primaries[device] == nullptr) {
    primaries[device] = Pool().New();
    primaries[device]->device = device;
    primaries[device]->primary = true;
  }
  return primaries[device];
}

}  // namespace

CUresult CreateContext(int device, unsigned flags, Context** out) {
  const EngineLock lock;
  Context* context = Pool().New();
  context->device = device;
  context->flags = flags;
  const CUresult result = Activate(context);
  if (result != CUDA_SUCCESS) {
    Pool().Delete(context);
    return result;
  }
  *out = context;
  return PushContext(context);
}

CUresult DestroyContext(Context* context) {
  const EngineLock lock;
  if (context->primary || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  Deactivate(context);
  if (TopContext() == context) --stack.depth;
  return CUDA_SUCCESS;
}

Context* FindContext(CUcontext handle) { return Pool().Find(handle); }
CUcontext HandleOf(Context* context) { return reinterpret_cast<CUcontext>(context); }

CUresult RetainPrimary(int device, Context** out) {
  const EngineLock lock;
  Context* context = Primary(device);
  if (!context->alive) {
    const CUresult result = Activate(context);
    if (result != CUDA_SUCCESS) return result;
  }
  ++context->references;
  *out = context;
  return CUDA_SUCCESS;
}

CUresult ReleasePrimary(int device) {
  const EngineLock lock;
  Context* context = Primary(device);
  if (context->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--context->references == 0) Deactivate(context);
  return CUDA_SUCCESS;
}

CUresult ResetPrimary(int device) {
  const EngineLock lock;
  Context* context = Primary(device);
  if (context->alive) Deactivate(context);
  context->references = 0;
  return CUDA_SUCCESS;
}

CUresult SetPrimaryFlags(int device, unsigned flags) {
  const EngineLock lock;
  Primary(device)->flags = flags;
  return CUDA_SUCCESS;
}

void PrimaryState(int device, unsigned* flags, int* active) {
  const EngineLock lock;
  if (flags != nullptr) *flags = Primary(device)->flags;
  if (active != nullptr) *active = Primary(device)->alive ? 1 : 0;
}

Context* TopContext() { return stack.depth == 0 ? nullptr : stack.entries[stack.depth - 1]; }

CUresult CurrentContext(Context** out) {
  Context* context = TopContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->alive.load(std::memory_order_acquire)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = context;
  return context->broken.load(std::memory_order_acquire);
}

CUresult PushContext(Context* context) {
  if (stack.depth == kMaxDepth) return CUDA_ERROR_INVALID_VALUE;
  stack.entries[stack.depth++] = context;
  return CUDA_SUCCESS;
}

CUresult PopContext(Context** out) {
  if (stack.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *out = stack.entries[--stack.depth];
  return CUDA_SUCCESS;
}

CUresult SetTopContext(Context* context) {
  if (context == nullptr) {
    if (stack.depth > 0) --stack.depth;
    return CUDA_SUCCESS;
  }
  if (stack.depth == 0) return PushContext(context);
  stack.entries[stack.depth - 1] = context;
  return CUDA_SUCCESS;
}

std::uint64_t ContextsCreated() { return created; }

}  // namespace cuheap::sim
