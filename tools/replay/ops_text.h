// The form of an OpStream that is kept in files: small, and smaller still behind gzip, because
// blocks are named by their distance, so that the turns of a loop look alike.
//
//   cuheap-ops 1
//   @ DEVICE STREAM   where the following allocations are; 0 0 at the beginning
//   a BYTES           an allocation
//   f DISTANCE        a free: 1 is the block that was allocated last
//   u DISTANCE STREAM a use by another stream
//   s                 a step ended
//   # TEXT            for people
#pragma once

#include <string>
#include <string_view>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

inline constexpr std::string_view kOpsText = "cuheap-ops 1";

Result<OpStream> ReadOpsText(std::string_view text);
// REQUIRES: the laws of op_stream.h.
std::string WriteOpsText(const OpStream& stream);

}  // namespace cuheap::replay
