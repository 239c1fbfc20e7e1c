// Reads lifetimes as minimalloc has them: a CSV with the columns id, lower, upper, size, where a
// buffer lives in [lower, upper). Older files say start or begin, and end, which is the last moment
// and not the one behind it.
#pragma once

#include <string_view>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

// Sorted by time; at one instant frees come before allocations, and rows keep their order.
Result<OpStream> ReadMinimalloc(std::string_view text);

}  // namespace cuheap::replay
