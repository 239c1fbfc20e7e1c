// Stream capture.
#include <vector>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

std::vector<GraphNode*> NodeList(const CUgraphNode* nodes, size_t count) {
  std::vector<GraphNode*> list;
  for (size_t i = 0; i < count; ++i) list.push_back(reinterpret_cast<GraphNode*>(nodes[i]));
  return list;
}

// What every form of cuStreamGetCaptureInfo reads. The dependencies stay in place until the next
// call on the stream, as the interface says.
struct Info {
  Stream* stream = nullptr;
  CaptureInfo capture;
};

CUresult Describe(CUstream handle, Info* info) {
  CUHEAP_SIM_TRY(StreamOf(handle, &info->stream));
  if (!AnyCapture()) return CUDA_SUCCESS;
  const EngineLock lock;
  return DescribeCapture(info->stream, &info->capture);
}

void GiveDependencies(const Info& info, const CUgraphNode** nodes, size_t* count) {
  const std::vector<GraphNode*>& after = info.stream->captured_after;
  WriteIfAsked(nodes, reinterpret_cast<const CUgraphNode*>(after.data()));
  WriteIfAsked(count, after.size());
}

}  // namespace

CUresult face::StreamBeginCapture(CUstream stream) {
  return StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult face::StreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  return BeginCapture(stream, mode, nullptr, {});
}

// PARTIAL: edges are plain ones only (edge data must be zero).
CUresult face::StreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle,
                                         const CUgraphNode* after, const CUgraphEdgeData* edges,
                                         size_t count, CUstreamCaptureMode mode) {
  CUHEAP_SIM_TRY(NeedPlainEdges(edges, count));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Graph* graph = FindGraph(graph_handle);
  if (graph == nullptr || (after == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  return BeginCapture(stream, mode, graph, NodeList(after, count));
}

CUresult face::StreamEndCapture(CUstream handle, CUgraph* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  const EngineLock lock;
  Graph* graph = nullptr;
  const CUresult result = EndCapture(stream, &graph);
  *out = Cast<CUgraph>(graph);  // NULL tells that there is no graph, as documented
  return result;
}

CUresult face::StreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  CUHEAP_SIM_TRY(NeedPointers(status));
  Info info;
  CUHEAP_SIM_TRY(Describe(handle, &info));
  *status = info.capture.status;
  return CUDA_SUCCESS;
}

CUresult face::StreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status,
                                    cuuint64_t* id) {
  return StreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult face::StreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status,
                                       cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                       size_t* count) {
  return StreamGetCaptureInfo_v3(handle, status, id, graph, nodes, nullptr, count);
}

CUresult face::StreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status,
                                       cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                       const CUgraphEdgeData** edges, size_t* count) {
  CUHEAP_SIM_TRY(NeedPointers(status));
  Info info;
  CUHEAP_SIM_TRY(Describe(handle, &info));
  *status = info.capture.status;
  if (info.capture.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  WriteIfAsked(id, info.capture.id);
  WriteIfAsked(graph, Cast<CUgraph>(info.capture.graph));
  WriteIfAsked(edges, static_cast<const CUgraphEdgeData*>(nullptr));  // all edges are plain
  GiveDependencies(info, nodes, count);
  return CUDA_SUCCESS;
}

CUresult face::StreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, size_t count,
                                               unsigned flags) {
  return StreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, count, flags);
}

// PARTIAL: edges are plain ones only (edge data must be zero).
CUresult face::StreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                                  const CUgraphEdgeData* edges, size_t count,
                                                  unsigned flags) {
  CUHEAP_SIM_TRY(NeedPlainEdges(edges, count));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (nodes == nullptr && count != 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  return UpdateDependencies(stream, NodeList(nodes, count),
                            flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult face::ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  CUHEAP_SIM_TRY(NeedPointers(mode));
  if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  *mode = ExchangeCaptureMode(*mode);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
