// Graphs and their executable copies.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUresult ExecOf(CUgraphExec handle, GraphExec** out) {
  *out = Execs().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult MakeExec(CUgraphExec* out, CUgraph handle, std::uint64_t flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  GraphExec* exec = Instantiate(graph, flags);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = Cast<CUgraphExec>(exec);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::GraphCreate(CUgraph* out, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  std::shared_ptr<Graph> graph = NewGraph();
  graph->self = graph;
  *out = Cast<CUgraph>(graph.get());
  return CUDA_SUCCESS;
}

CUresult face::GraphDestroy(CUgraph handle) {
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  if (graph->self == nullptr) return CUDA_ERROR_INVALID_VALUE;  // a child's, or an executable's
  DestroyGraph(graph);
  return CUDA_SUCCESS;
}

CUresult face::GraphClone(CUgraph* out, CUgraph handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  std::shared_ptr<Graph> copy = CloneGraph(*graph);
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  copy->self = copy;
  *out = Cast<CUgraph>(copy.get());
  return CUDA_SUCCESS;
}

CUresult face::GraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit, char* text,
                                size_t room) {
  return GraphInstantiate_v2(out, graph, culprit, text, room);
}
CUresult face::GraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit,
                                   char* text, size_t room) {
  WriteIfAsked(culprit, CUgraphNode{});
  if (text != nullptr && room != 0) *text = 0;
  return MakeExec(out, graph, 0);
}
CUresult face::GraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                         unsigned long long flags) {
  return MakeExec(out, graph, flags);
}
CUresult face::GraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(parameters));
  const CUresult result = MakeExec(out, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult face::GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(stream_handle, &stream));
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  return Submit(stream, ChildOp{exec->graph});
}

CUresult face::GraphUpload(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(stream_handle, &stream));
  GraphExec* exec = nullptr;
  return ExecOf(handle, &exec);
}

CUresult face::GraphExecDestroy(CUgraphExec handle) {
  const EngineLock lock;
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  Execs().Delete(exec);
  return CUDA_SUCCESS;
}

CUresult face::GraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  CUHEAP_SIM_TRY(NeedPointers(flags));
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

CUresult face::GraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle,
                                  CUgraphExecUpdateResultInfo* info) {
  CUHEAP_SIM_TRY(NeedPointers(info));
  const EngineLock lock;
  GraphExec* exec = nullptr;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(GraphOf(graph_handle, &graph));
  GraphNode* culprit = nullptr;
  *info = CUgraphExecUpdateResultInfo{};
  info->result = UpdateExec(exec, graph, &culprit);
  info->errorNode = Cast<CUgraphNode>(culprit);
  return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                      : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult face::GraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* culprit,
                               CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult code = GraphExecUpdate_v2(exec, graph, &info);
  WriteIfAsked(culprit, info.errorNode);
  WriteIfAsked(result, info.result);
  return code;
}

}  // namespace cuheap::sim
