// Multicast objects that several processes have. Each has a copy of its own; an entry in the
// control block says which devices are in the team and which exports are bound where.
//
// Laws: 1. An object has an entry from its first export on.
//       2. Who changes an object does so under a ControlLock: he follows the entry first, and tells
//          it afterwards. Who looks at one follows first.
//       3. An entry lives while some live process or an open descriptor holds it. What a process
//          bound goes with it, unless another one has followed the binding.
// Threads: callers hold the engine's lock.
#pragma once

#include <memory>

#include "tests/sim/engine/multicast.h"

namespace cuheap::sim {

void Follow(MulticastObject* object);
// False: the entry has no room for so many bindings, and says what it said before.
bool Tell(MulticastObject* object);
void ForgetShared(const MulticastObject& object);

// A descriptor that any process may turn into a handle of the object.
CUresult ExportMulticast(const std::shared_ptr<MulticastObject>& object, int* fd);
bool IsMulticastFile(int fd);
CUresult ImportMulticast(int fd, MulticastHandle** out);

}  // namespace cuheap::sim
