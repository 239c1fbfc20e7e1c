// Contexts and each thread's stack of them. A context's object is never destroyed, so stale handles
// are recognised. Creating one charges CUHEAP_SIM_CONTEXT_MEMORY on its device.
// Threads: the stack is the calling thread's; the rest takes the engine's lock.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

struct Stream;

struct Context {
  int device = 0;
  bool primary = false;
  int references = 0;  // of a primary context
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::atomic<bool> alive{false};
  // The sticky error of work that failed: every call says it until the context is made anew.
  std::atomic<CUresult> broken{CUDA_SUCCESS};
  std::atomic<Stream*> legacy_stream{nullptr};
  PhysicalPtr memory;
  std::size_t limits[CU_LIMIT_MAX] = {};
};

CUresult CreateContext(int device, unsigned flags, Context** out);
CUresult DestroyContext(Context* context);
// nullptr: no such context ever.
Context* FindContext(CUcontext handle);
CUcontext HandleOf(Context* context);

CUresult RetainPrimary(int device, Context** out);
CUresult ReleasePrimary(int device);
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

std::uint64_t ContextsCreated();

}  // namespace cuheap::sim
