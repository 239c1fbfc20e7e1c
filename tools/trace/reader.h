// Reads a *.cuheap file (allocator/ledger/format.h) into plain values.
//
// Laws
//   1. The file is untrusted: whatever its bytes, reading ends with a Trace or an Error, never with
//   a crash.
//   2. A file that its process is still writing is read in place: a record is taken only if its
//   state word is the same before
//      and after the copy.
//   3. A cut file gives everything up to the cut, and says so in `completeness`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/trace/result.h"
#include "tools/trace/trace.h"

namespace cuheap::trace {

Result<Trace> ReadTrace(const std::string& name);

// The same from memory. `name` goes into messages. REQUIRES: `bytes` begin at a multiple of 8.
Result<Trace> ParseTrace(std::span<const std::byte> bytes, const std::string& name);

// Only the header: cheap, for lists of files. `path` is opened as it is.
Result<Trace> ReadTraceHeader(const std::string& path);

}  // namespace cuheap::trace
