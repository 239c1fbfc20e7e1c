#include "hooks/preload/call.h"

#include "allocator/api/core_life.h"
#include "hooks/preload/figures.h"
#include "hooks/preload/torch_door.h"

namespace cuheap::preload {

constinit thread_local bool inside = false;

void SafePoint() {
  FindTorch();
  FindDriverFigures();
  Core().safe_point();
}

namespace {

[[gnu::constructor]] void Begin() { StartCore(); }
[[gnu::destructor]] void End() {
  StopDriverFigures();
  StopCore();
}

}  // namespace
}  // namespace cuheap::preload
