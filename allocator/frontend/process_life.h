// What becomes of the process: whether it is a privileged program, and whether objects were loaded
// or unloaded since the last look.
#pragma once

#include <cstdint>

namespace cuheap {

// A program that runs with more rights than its caller is not watched: the trace's path comes from
// the caller.
bool IsPrivilegedProcess();

struct LoadedObjects {
  std::uint64_t loads = 0;
  std::uint64_t unloads = 0;
};
// Takes the loader's lock for a moment: safe points only.
LoadedObjects CountLoadedObjects();

}  // namespace cuheap
