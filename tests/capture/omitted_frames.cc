#include "tests/capture/omitted_frames.h"

#include <alloca.h>

namespace cuheap::capture {
namespace {

// Keeps the compiler from dropping what it cannot see to be used.
void Use(const volatile void* pointer) { asm volatile("" ::"r"(pointer) : "memory"); }

}  // namespace

[[gnu::noinline]] void CallWithoutFramePointer(Callback callback, void* context) {
  volatile char room[96];
  Use(room);
  callback(context);
  Use(room);
}

[[gnu::noinline]] void CallWithDynamicFrame(Callback callback, void* context, int bytes) {
  void* const room = alloca(static_cast<unsigned>(bytes));
  Use(room);
  callback(context);
  Use(room);
}

[[gnu::noinline]] void CallWithAlignedFrame(Callback callback, void* context) {
  alignas(64) volatile char room[128];
  Use(room);
  callback(context);
  Use(room);
}

[[gnu::noinline]] void CallAtDepth(int depth, Callback callback, void* context) {
  volatile char room[64];
  Use(room);
  if (depth == 0)
    callback(context);
  else
    CallAtDepth(depth - 1, callback, context);
  Use(room);
}

}  // namespace cuheap::capture
