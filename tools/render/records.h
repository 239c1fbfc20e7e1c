// Every record of a trace, one at a time: as a line of words or as a line of JSON.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/trace/frames.h"
#include "tools/trace/trace.h"

namespace cuheap::render {

// Calls `take` for each record; the first field, "record", says what it is.
void EachRecord(const trace::Trace& trace, trace::FrameSource* frames,
                const std::function<void(const nlohmann::ordered_json&)>& take);

// "block address=0x7f00 bytes=512 ..."
std::string RecordLine(const nlohmann::ordered_json& record);

}  // namespace cuheap::render
