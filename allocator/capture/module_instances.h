// Small numbers for loads of modules, so that what is remembered about an address can be tied to
// the code it was learnt from: addresses and link maps are used again after dlclose.
//
// Laws
//   1. Two loads have one number only if they have the same place, unwind table and build-id: then
//   they are the same code at the same addresses.
//   2. A module without a build-id has no number.
//   3. Numbers fit into 17 bits and are never taken back. Any thread, no lock; a full table gives
//   no number.
#pragma once

#include <cstdint>

#include "allocator/capture/modules.h"

namespace cuheap::capture {

enum class ModuleInstance : std::uint32_t { kNone = 0 };

// The number of a loaded module; kNone where there is none.
ModuleInstance NumberModule(const Module& module);

}  // namespace cuheap::capture
