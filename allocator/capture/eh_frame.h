// Finds what a module's unwind tables (.eh_frame_hdr, .eh_frame) say of an address.
#pragma once

#include <cstdint>

#include "allocator/capture/modules.h"
#include "allocator/capture/unwind_rule.h"

namespace cuheap::capture {

// The rule at `pc`; kind kEnd where the tables say nothing. All reads stay inside the module.
// REQUIRES: the module is loaded and `pc` lies in it.
UnwindRule FindUnwindRule(const Module& module, std::uint64_t pc);

}  // namespace cuheap::capture
