// What the verbs that read traces have in common.
#pragma once

#include <string>

#include "tools/trace/result.h"

namespace cuheap::cli {

// Prints "cuheap: MESSAGE" on stderr; the exit code for the error.
int Complain(const Error& error);

enum class Color { kAuto, kAlways, kNever };
// Colour on stdout: as asked for, else on a terminal unless NO_COLOR is set.
bool UseColor(Color color);

// Writes to stdout; a reader that went away (a closed pipe) is not an error.
void Print(const std::string& text);

}  // namespace cuheap::cli
