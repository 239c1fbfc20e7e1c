#include "tests/sim/engine/call_log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tests/sim/engine/call_gate.h"

namespace cuheap::sim {
namespace {

int log_file = -1;

}  // namespace

void OpenLogFile(const std::string& path) {
  if (path.empty()) return;
  log_file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_file >= 0) return SetGate(GateBit::kLogFile, true);
  std::fprintf(stderr, "cuheap-sim: CUHEAP_SIM_LOG: %s: %s\n", path.c_str(), std::strerror(errno));
}

void WriteLogLine(const char* symbol, std::span<const std::uint64_t> arguments, CUresult result) {
  char line[512];
  const std::size_t room = sizeof(line);
  auto used = static_cast<std::size_t>(
      std::snprintf(line, room, "%d %ld %s(", getpid(), syscall(SYS_gettid), symbol));
  const char* separator = "";
  for (const std::uint64_t argument : arguments) {
    used += static_cast<std::size_t>(
        std::snprintf(line + used, room - used, "%s%#" PRIx64, separator, argument));
    separator = ", ";
  }
  used += static_cast<std::size_t>(std::snprintf(line + used, room - used, ") = %d\n", result));
  // A log that cannot be written must not change what the program sees.
  [[maybe_unused]] const ssize_t written = write(log_file, line, used);
}

}  // namespace cuheap::sim
