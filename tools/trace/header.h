// The header page of a trace: checked, then copied into plain values.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/trace/result.h"
#include "tools/trace/trace.h"

namespace cuheap::trace {

// The header of `file` if this program can read what follows it. `name` goes into the message.
Result<const format::FileHeader*> CheckHeader(std::span<const std::byte> file,
                                              const std::string& name);
void CopyHeader(const format::FileHeader& header, Trace* trace);

}  // namespace cuheap::trace
