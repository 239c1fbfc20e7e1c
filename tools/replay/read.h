// The one way into the readers: a file, or bytes, of any kind that is known.
//
// Laws: 1. The bytes are untrusted: reading ends with a stream that keeps its laws, or an error
// that says what is wrong and where.
#pragma once

#include <string>
#include <string_view>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

// Messages begin with the file's name. `heap`: of a trace of cuheap's, whose blocks; see
// trace_events.h.
Result<OpStream> ReadFile(const std::string& path, const std::string& heap = "");
// What the bytes are is seen from how they begin.
Result<OpStream> ReadBytes(std::string_view bytes);

}  // namespace cuheap::replay
