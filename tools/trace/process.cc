#include "tools/trace/process.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace cuheap::trace {

std::uint64_t StartTicks(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // The second field is the command in parentheses and may hold anything, so fields are counted
  // behind its end.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(line.substr(end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return 0;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return fields ? ticks : 0;
}

bool IsRunning(std::uint32_t pid, std::uint64_t start_ticks) {
  return pid != 0 && start_ticks != 0 && StartTicks(pid) == start_ticks;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

}  // namespace cuheap::trace
