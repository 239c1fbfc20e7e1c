// Where a driver call came from: native frames, and Python's where the process has an interpreter.
// Kept once each. Threads: any; takes a lock of its own.
#pragma once

#include <cstdint>
#include <string>

namespace cuheap::sim {

using StackId = std::uint32_t;  // 0: unknown

StackId CallStackHere();
// A frame a line, innermost first, each with `indent` before it.
std::string CallStackText(StackId stack, const std::string& indent);

}  // namespace cuheap::sim
