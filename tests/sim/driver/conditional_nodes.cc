// Handles of conditional nodes. The nodes are added as any other (graph_nodes.cc).
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/conditional.h"

namespace cuheap::sim {

CUresult face::GraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph graph_handle,
                                            CUcontext context_handle, unsigned initial,
                                            unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if ((flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(graph_handle, &graph));
  Context* context = FindContext(context_handle);
  if (context_handle == nullptr) CUHEAP_SIM_TRY(CurrentContext(&context));
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_VALUE;
  *out = NewConditionalHandle(graph, context, initial, flags == CU_GRAPH_COND_ASSIGN_DEFAULT)->id;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
