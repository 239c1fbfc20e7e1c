// What a trace file is: format, completeness, what was dropped and why, clock, size, options,
// doors.
#pragma once

#include <string>

#include "tools/trace/trace.h"

namespace cuheap::render {

std::string Info(const trace::Trace& trace);

}  // namespace cuheap::render
