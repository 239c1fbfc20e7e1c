// Where a copy lies decides what the call waits for. Host memory that the driver does not know
// (pageable) is not left in a queue: a program may change or free it as soon as the call returns.
#pragma once

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

enum class Staging {
  kNone,   // nothing pageable
  kTaken,  // the bytes to copy were taken now
  kWaits,  // the call has to wait until the work is done
};

Staging Stage(Operation* operation);

// Is done when the call returns, whatever the call: the host knows.
bool IsBetweenHosts(const Operation& operation);
// From device to device: synchronous calls too return before it is done. Where contexts differ they
// wait, since such a copy comes before all later work of both.
bool IsLeftInItsStream(const CopyOp& copy);

}  // namespace cuheap::sim
