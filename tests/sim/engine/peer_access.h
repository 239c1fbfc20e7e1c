// Which memory the work of a context may touch, beside that of its own device: memory of a context
// that it enabled as a peer, mappings and pools that gave access to its device. The driver's own
// copies stage what the devices cannot reach directly, as long as it knows the memory's owner: that
// of cuMemAlloc by its address, any memory where the call names both contexts.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <vector>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// INVALID_CONTEXT: `peer` is `context` itself.
CUresult EnablePeer(Context* context, Context* peer);
CUresult DisablePeer(Context* context, Context* peer);
// Opening another process's memory enables access to its device, as far as there is a link.
bool ReachesDevice(int device, int peer);

// What `context` may do to `block` without the driver's help.
Access AccessOf(const Context& context, const Allocation& block);

// ILLEGAL_ADDRESS, after a line on stderr: the device of `context` may not touch `ranges`, those of
// `operation`. Memory that does not exist is not looked at here.
CUresult CheckDeviceAccess(const Context& context, const Operation& operation,
                           const std::vector<TouchedRange>& ranges);
CUresult CheckDeviceAccess(const Context& context, const char* what, const TouchedRange& range);

}  // namespace cuheap::sim
