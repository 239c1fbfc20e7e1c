// Graphs and their executable copies.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/graph_copy.h"
#include "tests/sim/engine/graph_instantiate.h"
#include "tests/sim/engine/graph_launch.h"
#include "tests/sim/engine/graph_update.h"

namespace cuheap::sim {
namespace {

CUresult MakeExec(CUgraphExec* out, CUgraph handle, std::uint64_t flags,
                  InstantiateReport* report) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(Instantiate(graph, flags, &exec, report));
  *out = Cast<CUgraphExec>(exec);
  return CUDA_SUCCESS;
}

// Without a stream there is nothing to upload in.
CUresult MakeExecWithoutUpload(CUgraphExec* out, CUgraph graph, std::uint64_t flags,
                               CUgraphNode* culprit) {
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) return CUDA_ERROR_INVALID_VALUE;
  InstantiateReport report;
  const CUresult result = MakeExec(out, graph, flags, &report);
  WriteIfAsked(culprit, Cast<CUgraphNode>(report.node));
  return result;
}

CUresult Upload(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(stream_handle, &stream));
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  return UploadGraph(exec);
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
  if (graph->self == nullptr) return CUDA_ERROR_INVALID_VALUE;  // inside a node, or executable
  if (IsCapturedInto(*graph)) return CUDA_ERROR_INVALID_VALUE;
  DestroyGraph(graph);
  return CUDA_SUCCESS;
}

CUresult face::GraphClone(CUgraph* out, CUgraph handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  if (HasMemoryNodes(*graph) || HasConditionals(*graph)) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Graph> copy = CopyGraph(*graph);
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  copy->self = copy;
  *out = Cast<CUgraph>(copy.get());
  return CUDA_SUCCESS;
}

CUresult face::GraphNodeFindInClone(CUgraphNode* out, CUgraphNode original_handle,
                                    CUgraph clone_handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  GraphNode* original = nullptr;
  Graph* clone = nullptr;
  CUHEAP_SIM_TRY(NodeOf(original_handle, &original));
  CUHEAP_SIM_TRY(GraphOf(clone_handle, &clone));
  if (clone->origin == 0 || clone->origin != original->graph->id) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* copy = FindCopy(*clone, *original);
  CUHEAP_SIM_TRY(NeedPointers(copy));
  *out = Cast<CUgraphNode>(copy);
  return CUDA_SUCCESS;
}

CUresult face::GraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit, char* text,
                                size_t room) {
  return GraphInstantiate_v2(out, graph, culprit, text, room);
}
CUresult face::GraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit,
                                   char* text, size_t room) {
  if (text != nullptr && room != 0) *text = 0;
  return MakeExecWithoutUpload(out, graph, 0, culprit);
}
CUresult face::GraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                         unsigned long long flags) {
  return MakeExecWithoutUpload(out, graph, flags, nullptr);
}
CUresult face::GraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  CUHEAP_SIM_TRY(NeedPointers(out, parameters));
  InstantiateReport report{CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  CUgraphExec exec = nullptr;
  CUresult result = MakeExec(&exec, graph, parameters->flags, &report);
  const bool upload = (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
  if (result == CUDA_SUCCESS && upload) {
    result = Upload(exec, parameters->hUploadStream);
    if (result != CUDA_SUCCESS) {
      report = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
      GraphExecDestroy(exec);
    }
  }
  parameters->hErrNode_out = Cast<CUgraphNode>(report.node);
  parameters->result_out = report.result;
  if (result == CUDA_SUCCESS) *out = exec;
  return result;
}

CUresult face::GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(stream_handle, &stream));
  GraphExec* exec = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  return LaunchGraph(exec, stream);
}

CUresult face::GraphUpload(CUgraphExec exec, CUstream stream) { return Upload(exec, stream); }

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
  *info = CUgraphExecUpdateResultInfo{};
  info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
  GraphExec* exec = nullptr;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(ExecOf(handle, &exec));
  CUHEAP_SIM_TRY(GraphOf(graph_handle, &graph));
  const UpdateReport report = UpdateExec(exec, *graph);
  info->result = report.result;
  info->errorNode = Cast<CUgraphNode>(report.node);
  info->errorFromNode = Cast<CUgraphNode>(report.from);
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
