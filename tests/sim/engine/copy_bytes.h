// The bytes that a copy moves, and which memory they lie in: boxes with pitches, and boxes inside
// tiled arrays.
#pragma once

#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

void CopyBytes(const CopyOp& copy);
// What it reads, then what it writes.
std::vector<TouchedRange> RangesOf(const CopyOp& copy);

}  // namespace cuheap::sim
