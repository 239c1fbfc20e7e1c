// Brings traces from shared memory to where they belong: checkpoints of running processes, and the
// files of dead ones. The process does the same for itself when it ends in order
// (allocator/ledger); this is for those that did not.
//
// Laws
//   1. A destination is replaced by rename only: a reader sees the old file or the whole new one.
//   2. Somebody else's file is never overwritten: a taken name gets ".PID-START" before its suffix.
//   3. A file is removed from shared memory only after its copy is in place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/trace/result.h"
#include "tools/trace/trace.h"

namespace cuheap::trace {

// Copies the trace at `source` (a process may be writing it) to `destination`: records that change
// meanwhile are left out.
Result<std::uint64_t> CopyTrace(const std::string& source, const std::string& destination);

// "a.cuheap" -> "a.4711-123456.cuheap"
std::string NameForProcess(const std::string& destination, const Identity& identity);

// Moves a dead process's trace home; the name that it has there. REQUIRES: its process does not run
// any more.
Result<std::string> BringHome(const std::string& shared_file);

// When memory last ran out, by the instants in the file; 0 = never (or not readable).
std::uint64_t LastOutOfMemory(const std::string& path);

}  // namespace cuheap::trace
