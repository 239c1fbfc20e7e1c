// Contexts and each thread's stack of them. A context's object is never destroyed, so stale handles
// are recognised. Creating one charges CUHEAP_SIM_CONTEXT_MEMORY on its device.
//
// A device has one primary context, whose handle stays the same for ever. Each time it comes to
// life it is a new generation with a new id; nothing of an older generation is left.
// A green context (green_context.h) has streams and a default stream of its own; its memory, events
// and sticky error are those of the primary context it came from.
// Threads: the stack is the calling thread's; the rest takes the engine's lock.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>

#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

struct Stream;

struct Context {
  int device = 0;
  bool primary = false;
  Context* parent = nullptr;  // of a green context: the primary one
  // Retains of a primary context, which outlive its resets; the usage count of an own one.
  int references = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;  // of this generation; never repeats
  std::atomic<bool> alive{false};
  // The sticky error of work that failed: every call says it until the context is made anew.
  std::atomic<CUresult> broken{CUDA_SUCCESS};
  std::atomic<Stream*> legacy_stream{nullptr};
  PhysicalPtr memory;
  std::size_t limits[CU_LIMIT_MAX] = {};
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
  std::set<std::uint64_t> peers;  // contexts whose memory it may touch, by id; engine's lock
};

// Whose memory, events and errors those of `context` are.
inline Context* RootOf(Context* context) {
  return context->parent != nullptr ? context->parent : context;
}
inline const Context* RootOf(const Context* context) {
  return context->parent != nullptr ? context->parent : context;
}

CUresult CreateContext(int device, unsigned flags, Context** out);
CUresult DestroyContext(Context* context);
// One that cuCtxCreate made and nobody destroyed.
bool IsOwn(const Context& context);
// The usage count of the current context, which is 1 at first; at 0 it is destroyed.
CUresult AttachContext(Context** out);
CUresult DetachContext(Context* context);
// A context of a green one. REQUIRES: the primary context is alive. End it with EndGreen.
Context* BeginGreen(Context* primary);
void EndGreen(Context* context);
// Leaves the sticky error in the context and in those that share it.
void Break(Context* context, CUresult error);
// nullptr: no such context ever.
Context* FindContext(CUcontext handle);
CUcontext HandleOf(Context* context);

CUresult RetainPrimary(int device, Context** out);
CUresult ReleasePrimary(int device);
int PrimaryReferences(int device);
CUresult ResetPrimary(int device);
CUresult SetPrimaryFlags(int device, unsigned flags);
void PrimaryState(int device, unsigned* flags, int* active);

// The top of the stack, nullptr when it is empty. It may be a destroyed context.
Context* TopContext();
// The same with its verdict: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, its sticky error or
// SUCCESS.
CUresult CurrentContext(Context** out);
CUresult PushContext(Context* context);
CUresult PopContext(Context** out);
CUresult SetTopContext(Context* context);  // nullptr: pops

std::uint64_t ContextsCreated();  // of all devices
std::uint64_t ContextsCreated(int device);

}  // namespace cuheap::sim
