// Stream capture.
#include <vector>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

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

void GiveDependencies(const Dependencies& after, const CUgraphNode** nodes,
                      const CUgraphEdgeData** edges, size_t* count) {
  WriteIfAsked(nodes, reinterpret_cast<const CUgraphNode*>(after.nodes().data()));
  WriteIfAsked(edges, after.edges().data());
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

CUresult face::StreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle,
                                         const CUgraphNode* after, const CUgraphEdgeData* edges,
                                         size_t count, CUstreamCaptureMode mode) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Graph* graph = FindGraph(graph_handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Dependencies dependencies;
  CUHEAP_SIM_TRY(DependenciesOf(after, edges, count, &dependencies));
  return BeginCapture(stream, mode, graph, std::move(dependencies));
}

CUresult face::StreamEndCapture(CUstream handle, CUgraph* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  const EngineLock lock;
  Graph* graph = nullptr;
  const CUresult result = EndCapture(stream, &graph);
  // NULL tells that the capture ended without a graph.
  const bool ended = result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
                     result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  if (ended) *out = Cast<CUgraph>(graph);
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
  if (edges != nullptr && nodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Info info;
  CUHEAP_SIM_TRY(Describe(handle, &info));
  const bool active = info.capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  const Dependencies& after = info.stream->captured_after;
  if (active && nodes != nullptr && edges == nullptr && !after.AllPlain()) {
    return CUDA_ERROR_LOSSY_QUERY;
  }
  *status = info.capture.status;
  if (!active) return CUDA_SUCCESS;
  WriteIfAsked(id, info.capture.id);
  WriteIfAsked(graph, Cast<CUgraph>(info.capture.graph));
  GiveDependencies(after, nodes, edges, count);
  return CUDA_SUCCESS;
}

CUresult face::StreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, size_t count,
                                               unsigned flags) {
  return StreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, count, flags);
}

CUresult face::StreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                                  const CUgraphEdgeData* edges, size_t count,
                                                  unsigned flags) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Dependencies dependencies;
  CUHEAP_SIM_TRY(DependenciesOf(nodes, edges, count, &dependencies));
  return UpdateDependencies(stream, dependencies, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult face::ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  CUHEAP_SIM_TRY(NeedPointers(mode));
  if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  *mode = ExchangeCaptureMode(*mode);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
