// Which memory an operation reads and writes, as far as the driver can know: a kernel's arguments
// are not looked at, unless the kernel declares its ranges.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// Without those of a child graph's nodes.
std::vector<TouchedRange> TouchedRanges(const Operation& operation);
// "copy", "set", the name of a kernel: as reports call it.
std::string NameOf(const Operation& operation);

// INVALID_VALUE: device addresses that no allocation covers. When work that was queued is done,
// memory of a pool may have been freed behind it in its stream.
CUresult CheckRangesAtSubmission(const std::vector<TouchedRange>& ranges);
CUresult CheckRangesAtExecution(const std::vector<TouchedRange>& ranges);

// The pages behind what is written among `ranges` have content from now on.
void MarkWritten(const std::vector<TouchedRange>& ranges);

}  // namespace cuheap::sim
