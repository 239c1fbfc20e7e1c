// Host memory that the driver does not know (pageable) is not left in a queue: a program may change
// or free it as soon as the call returns.
#pragma once

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

enum class Staging {
  kNone,   // nothing pageable
  kTaken,  // the bytes to copy were taken now
  kWaits,  // the call has to wait until the work is done
};

Staging Stage(Operation* operation);

}  // namespace cuheap::sim
