// Green contexts: a part of a device's multiprocessors, and a context whose streams run there.
// Kernels compute nothing here, so the part is a number that the program gets back; what is real is
// which streams exist, what they wait for, and how long the primary context lives.
//
// Laws: 1. A green context retains its primary context until it is destroyed.
//       2. Groups of one split do not overlap; groups of different splits may.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "tests/sim/engine/context.h"

namespace cuheap::sim {

struct GreenContext {
  Context* context = nullptr;
  CUdevResource resource{};
  std::uint64_t id = 0;  // never repeats
};

// Multiprocessors of a whole device; those of a context.
CUdevResource ResourceOfDevice(int device);
CUdevResource ResourceOfContext(const Context& context);

// INVALID_VALUE: not a resource that can be split, or more is asked for than there is. `groups` is
// the most wanted; the others get what is made. `result` may be null.
CUresult SplitResource(const CUdevResource& input, unsigned flags, unsigned least, unsigned* groups,
                       CUdevResource* result, CUdevResource* rest);
// Descriptors live for ever: nothing in the API ends one.
CUresult DescribeResources(const CUdevResource* resources, unsigned count, CUdevResourceDesc* out);

CUresult CreateGreen(CUdevResourceDesc description, int device, GreenContext** out);
void DestroyGreen(GreenContext* green);
// nullptr: no such green context; one that was destroyed has no context any more.
GreenContext* FindGreen(CUgreenCtx handle);
// nullptr: it is not a context of a green one.
GreenContext* GreenOf(const Context& context);

}  // namespace cuheap::sim
