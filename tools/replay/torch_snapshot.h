// Reads a pickle of torch.cuda.memory._snapshot(), as _dump_snapshot writes it: the history of
// allocations of each device.
//
// A history is a ring that may have begun late: a block that is freed, or still lives, without
// having been allocated in it is taken as allocated before all. A tensor counts as freed when its
// free was asked for; which other streams used it is not in a snapshot.
#pragma once

#include <string_view>

#include "tools/replay/op_stream.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

Result<OpStream> ReadTorchSnapshot(std::string_view pickle);

}  // namespace cuheap::replay
