// Small numbers for loads of modules, so that what is remembered about an address can be tied to
// the code it was learnt from: addresses and link maps are used again after dlclose.
//
// Laws
//   1. Two loads have one number only if they have the same place, unwind table and identity: then
//   they are the same code at the same addresses.
//   2. The identity is the build-id. Where there is none (PyTorch's wheel) it is how many functions
//   the unwind table has, the place of the middle one and of the last one: another build that
//   agrees in all of that and in the module's place would have to be made on purpose.
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
