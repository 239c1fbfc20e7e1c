// Starts the command of `run` and stands in for it: its signals and its status pass through.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cuheap::cli {

struct Command {
  std::vector<std::string> words;
  // Set in the child only, so that `run` is never watched by what it asks for.
  std::vector<std::pair<std::string, std::string>> environment;
};

struct ChildEnd {
  bool started = false;
  int status =
      0;  // as a shell says it: the exit status, 128 + signal, 127 not found, 126 not executable
};

// Waits for the command; `tick` is called about once a second meanwhile. A signal that a terminal
// sends reaches the child without our help, since it is in our process group; one sent to us alone
// is forwarded. Prints why a command cannot start.
ChildEnd RunChild(const Command& command, const std::function<void()>& tick);

}  // namespace cuheap::cli
