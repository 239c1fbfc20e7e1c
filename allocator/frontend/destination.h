// Where a process's trace belongs: the template of CUHEAP_OUT with the process's facts filled in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cuheap {

struct ProcessFacts {
  std::string_view program;  // basename of the executable
  std::string_view host;
  std::string_view folder;  // absolute: where a relative template starts
  std::int64_t pid = 0;
  std::int32_t rank = -1;
};

// Writes the absolute path, with a terminator, into `path`. %h host, %p pid, %r rank ("-" when it
// is unknown), %% one percent sign; another % stands for itself. An empty template means
// PROGRAM.HOST.PID.cuheap. False when the path does not fit.
bool FillDestination(std::string_view pattern, const ProcessFacts& facts, std::span<char> path);

}  // namespace cuheap
