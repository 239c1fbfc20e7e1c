// The work of one call of NCCL, and where it stands among the streams of its ranks.
#pragma once

#include <vector>

#include "tests/sim/standins/nccl_calls.h"

namespace cuheap::sim_standin {

// The calls of all ranks, in their order; of a message, the sender's and the receiver's. An
// ncclResult_t.
int RunTogether(const std::vector<NcclCall>& calls);

// Does the work, on memory that the process can read and write.
void MoveData(const std::vector<NcclCall>& calls);

// 0: not a type that the stand-in can reckon with.
std::size_t BytesOfNcclType(int type);
bool IsNcclOperation(int operation);

}  // namespace cuheap::sim_standin
