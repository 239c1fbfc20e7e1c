// The end of the driver before the end of its process: from a settable point on, every driver call
// says DEINITIALIZED. Nothing is given back then; the process's end does that.
//
// Exit handlers run in the reverse order of their registration. `kEarly` is registered when the
// library is loaded and so comes after those of a program that was linked to it; `kLate` is
// registered by cuInit and so comes before everything that was registered until then.
// Threads: any.
#pragma once

#include <string_view>

namespace cuheap::sim {

enum class ShutdownTime { kOff, kEarly, kLate };

bool ReadShutdownTime(std::string_view text, ShutdownTime* out);

void ShutDown();
// What cuInit does for `kLate`.
void ShutDownAtExitIfAsked();

}  // namespace cuheap::sim
