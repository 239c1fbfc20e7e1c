// The bytes of a node's parameters that nothing uses.
#include <algorithm>
#include <iterator>

#include "tests/sim/driver/graph_handles.h"

namespace cuheap::sim {
namespace {

std::size_t UsedBytes(const CUgraphNodeParams& parameters) {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return sizeof parameters.kernel;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return sizeof parameters.memcpy;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return sizeof parameters.memset;
    case CU_GRAPH_NODE_TYPE_HOST:
      return sizeof parameters.host;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return sizeof parameters.graph;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return sizeof parameters.eventWait;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return sizeof parameters.eventRecord;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return sizeof parameters.alloc;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return sizeof parameters.free;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return sizeof parameters.memOp;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return sizeof parameters.conditional;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return 0;
    default:
      return sizeof parameters.reserved1;  // of no use here
  }
}

}  // namespace

bool AreUnusedBytesZero(const CUgraphNodeParams& parameters) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(parameters.reserved1);
  const auto* const end = bytes + sizeof parameters.reserved1;
  const auto zero = [](auto value) { return value == 0; };
  const bool copies = parameters.type == CU_GRAPH_NODE_TYPE_MEMCPY;
  return std::all_of(std::begin(parameters.reserved0), std::end(parameters.reserved0), zero) &&
         std::all_of(bytes + UsedBytes(parameters), end, zero) && parameters.reserved2 == 0 &&
         (!copies || (parameters.memcpy.flags == 0 && parameters.memcpy.reserved == 0));
}

}  // namespace cuheap::sim
