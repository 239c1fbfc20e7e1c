// The log of driver calls: one line a call in the file CUHEAP_SIM_LOG, by all processes that were
// given the name, forked children among them:  pid thread name(arguments) = code
//
// Threads: any; a line is one write.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>
#include <string>

namespace cuheap::sim {

// Nothing to do for an empty path. Says on stderr why a file cannot be opened.
void OpenLogFile(const std::string& path);
void WriteLogLine(const char* symbol, std::span<const std::uint64_t> arguments, CUresult result);

}  // namespace cuheap::sim
