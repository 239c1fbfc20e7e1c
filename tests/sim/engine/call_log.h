// The log of driver calls, with what they were given, what they answered, and how long they took.
// In memory, for the tests of a process (sim_api.h). In the file CUHEAP_SIM_LOG, for all processes
// that were given the name, forked children among them, one line a call:
//
//   pid thread symbol(arguments) = code duration ns
//
// Threads: any. Entries are in the order in which calls returned; a line is one write.
#pragma once

#include <cstddef>
#include <string>

struct cuheap_sim_call;

namespace cuheap::sim {

// Nothing to do for an empty path. Says on stderr why a file cannot be opened.
void OpenLogFile(const std::string& path);
void RecordCalls(bool on);

// Into the file, and into memory, whichever is on.
void LogCall(const cuheap_sim_call& call);

void ForgetCalls();
std::size_t CallsRecorded();
// False, and `out` untouched: no such entry.
bool ReadCall(std::size_t index, cuheap_sim_call* out);

}  // namespace cuheap::sim
