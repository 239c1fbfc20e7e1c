#include "tests/sim/engine/context.h"

#include "tests/sim/engine/array.h"
#include "tests/sim/engine/context_events.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/module.h"
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
std::atomic<std::uint64_t> created_on[kMaxDevices];
Context* primaries[kMaxDevices];  // guarded by the engine's lock

HandlePool<Context>& Pool() {
  static auto& pool = *new HandlePool<Context>;
  return pool;
}

void SetDefaults(Context* context) {
  context->cache = CU_FUNC_CACHE_PREFER_NONE;
  context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  context->limits[CU_LIMIT_STACK_SIZE] = 1024;
  context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
  context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

void Begin(Context* context) {
  context->id = ++created;
  ++created_on[context->device];
  SetDefaults(context);
  context->peers.clear();
  context->legacy_stream = NewStream(context, CU_STREAM_DEFAULT, 0);
  context->broken = CUDA_SUCCESS;
  context->alive = true;
}

CUresult Activate(Context* context) {
  const std::uint64_t bytes = InWholePages(TheSettings().context_memory);
  PhysicalPtr memory = AllocatePages(context->device, bytes, MemoryKind::kContext);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  context->memory = std::move(memory);
  Begin(context);
  return CUDA_SUCCESS;
}

void Deactivate(Context* context) {
  context->alive = false;
  Pool().ForEach([&](Context* other) {
    if (other->parent == context) other->alive = false;
  });
  DestroyStreamsAndEventsOf(context);
  UnloadModulesOf(context);
  DestroyArraysOf(context);
  ForgetContextWaits(context);
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
  if (stack.depth == kMaxDepth) return CUDA_ERROR_INVALID_VALUE;
  Context* context = Pool().New();
  context->device = device;
  context->flags = flags;
  context->references = 1;
  const CUresult result = Activate(context);
  if (result != CUDA_SUCCESS) {
    Pool().Delete(context);
    return result;
  }
  *out = context;
  return PushContext(context);
}

bool IsOwn(const Context& context) {
  return !context.primary && context.parent == nullptr && context.alive;
}

CUresult DestroyContext(Context* context) {
  const EngineLock lock;
  if (!IsOwn(*context)) return CUDA_ERROR_INVALID_CONTEXT;
  Deactivate(context);
  if (TopContext() == context) --stack.depth;
  return CUDA_SUCCESS;
}

CUresult AttachContext(Context** out) {
  const EngineLock lock;
  Context* context = nullptr;
  const CUresult result = CurrentContext(&context);
  if (result != CUDA_SUCCESS) return result;
  ++context->references;
  *out = context;
  return CUDA_SUCCESS;
}

CUresult DetachContext(Context* context) {
  const EngineLock lock;
  if (!context->alive || TopContext() != context) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->primary) return ReleasePrimary(context->device);
  if (--context->references > 0) return CUDA_SUCCESS;
  return DestroyContext(context);
}

Context* BeginGreen(Context* primary) {
  Context* context = Pool().New();
  context->device = primary->device;
  context->parent = primary;
  context->flags = primary->flags;
  context->references = 1;
  Begin(context);
  context->broken = primary->broken.load();
  return context;
}

// Its streams stay, so that their handles still say what became of them.
void EndGreen(Context* context) {
  context->alive = false;
  ForgetContextWaits(context);
  if (Stream* stream = context->legacy_stream.exchange(nullptr)) DestroyStream(stream);
}

void Break(Context* context, CUresult error) {
  const EngineLock lock;
  const Context* root = RootOf(context);
  Pool().ForEach([&](Context* other) {
    if (RootOf(other) == root) other->broken = error;
  });
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
  if (--context->references == 0 && context->alive) Deactivate(context);
  return CUDA_SUCCESS;
}

int PrimaryReferences(int device) {
  const EngineLock lock;
  return Primary(device)->references;
}

CUresult ResetPrimary(int device) {
  const EngineLock lock;
  Context* context = Primary(device);
  if (context->alive) Deactivate(context);
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
std::uint64_t ContextsCreated(int device) {
  return device >= 0 && device < kMaxDevices ? created_on[device].load() : 0;
}

}  // namespace cuheap::sim
