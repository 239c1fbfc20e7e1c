// Native frames of the calling thread by unwind tables, without any lock: _dl_find_object ->
// .eh_frame_hdr -> unwind rule, cached by pc. No foreign unwinder, no allocation, no loader lock.
// x86-64 only; elsewhere there are no native frames.
//
// Laws
//   1. Never takes a lock of anybody's; safe under the host's locks, in signal handlers and inside
//   dlopen of another thread.
//   2. Every read of the stack stays inside the thread's stack bounds; a broken frame ends the
//   walk, it never crashes the job. So does code without unwind tables (JIT).
//   3. A rule cached for a pc is used only for the module instance it was made for (dlclose and
//   dlopen may reuse addresses); rules of modules without a build-id are not cached.
#pragma once

#include <cstdint>
#include <span>

#include "allocator/capture/stack_place.h"
#include "allocator/capture/walk_evidence.h"

namespace cuheap::capture {

inline constexpr int kMaxNativeFrames = 24;

// Return addresses, innermost first, beginning with the caller of the function that calls
// WalkNative, `skip` frames left out. How many were written. A function that ends in
// `return WalkNative(...)` may be gone from the stack (tail call) and then does not count.
int WalkNative(std::span<std::uint64_t> pcs, int skip);

// The same from a place of a function that is still running: its own caller comes first. `evidence`
// (if not nullptr) is told what the walk rested on.
int WalkNativeFrom(const StackPlace& place, std::span<std::uint64_t> pcs, WalkEvidence* evidence);

}  // namespace cuheap::capture
