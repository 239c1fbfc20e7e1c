#include "tests/sim/engine/latest_freed.h"

namespace cuheap::sim {
namespace {

bool latest_first = false;

}  // namespace

bool IsLatestFirst() { return latest_first; }
void SetLatestFirst(bool on) { latest_first = on; }

}  // namespace cuheap::sim
