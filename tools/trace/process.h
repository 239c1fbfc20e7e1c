// Whether the process that wrote a trace still runs on this machine.
#pragma once

#include <cstdint>
#include <string>

namespace cuheap::trace {

// Field 22 of /proc/PID/stat: when the process started. 0 when there is no such process (a zombie
// counts as none).
std::uint64_t StartTicks(std::uint32_t pid);
bool IsRunning(std::uint32_t pid, std::uint64_t start_ticks);
std::string HostName();

}  // namespace cuheap::trace
