// Reads what RMM's logging_resource_adaptor writes: a CSV with the columns Thread, Time, Action,
// Pointer, Size, Stream. The order is that of the lines.
//
// RMM logs a free after it was made, so that another thread may be given the block, and log that,
// before: then the block is free from there on, and the free that follows is passed over.
#pragma once

#include <string_view>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

Result<OpStream> ReadRmmLog(std::string_view text);

}  // namespace cuheap::replay
