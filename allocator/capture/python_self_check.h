// One walk compared with what the interpreter says of the same frames: code objects, instruction,
// line, names, line table.
#pragma once

#include <cstdint>

#include "allocator/capture/python_stack.h"

namespace cuheap::capture {

enum class WalkVerdict : std::uint8_t { kSame, kDifferent, kNothingToCompare };

// REQUIRES: the GIL is held and no exception is set. Leaves neither a reference nor an exception.
WalkVerdict CompareWalk(const PythonStack& stack, const PythonApi& api);

}  // namespace cuheap::capture
