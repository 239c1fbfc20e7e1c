// Runs command lines for tests of programs.
#pragma once

#include <string>

namespace cuheap {

struct Ran {
  int status = 0;  // exit status; 128 + signal
  std::string out;
  std::string err;
};

// `line` is run by /bin/sh, in `folder`.
Ran Shell(const std::string& folder, const std::string& line);

}  // namespace cuheap
