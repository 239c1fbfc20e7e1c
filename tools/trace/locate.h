// Which file to read for a name. While a process runs its trace lies in shared memory and the name
// is a link to it; when the machine lost its shared memory, the last checkpoint beside the name is
// what is left.
#pragma once

#include <string>

#include "tools/trace/result.h"

namespace cuheap::trace {

struct Location {
  std::string path;         // what to open
  bool checkpoint = false;  // the named file is gone, this is its last checkpoint
};

std::string CheckpointName(const std::string& name);
Result<Location> Locate(const std::string& name);

}  // namespace cuheap::trace
