// Which frame of a stack to name in a sentence, and what a stack says about its memory.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/symbolizer.h"

namespace cuheap::analysis {

// The innermost frame of the user's own code; the innermost of all if there is none; nullptr for an
// empty stack.
const trace::Frame* Culprit(const std::vector<trace::Frame>& frames);
// "train.py:14", "solver.cc:88" or a function's name where no line is known; "an unknown place"
// without frames.
std::string PlaceOf(const std::vector<trace::Frame>& frames);
// A C++ name without its parameters and template arguments.
std::string ShortFunction(const std::string& function);
// The function that makes this memory a library's workspace (cuBLAS and kin keep one as long as
// they live); empty if none.
std::string WorkspaceFunction(const std::vector<trace::Frame>& frames);

}  // namespace cuheap::analysis
