// Makes operations of the events of a trace of cuheap's (modes events and full): those of one heap.
//
// What lived when the first kept event happened stands at the beginning. A heap that does not see
// requests tells the bytes of its blocks; a note says so.
#pragma once

#include <string>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"
#include "tools/trace/trace.h"

namespace cuheap::replay {

// `heap`: its name; empty: torch if it has events, else driver.
Result<OpStream> ReadTraceEvents(const trace::Trace& trace, const std::string& heap);

}  // namespace cuheap::replay
