#include "tests/sim/engine/capture.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/graph.h"

namespace cuheap::sim {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  Stream* origin = nullptr;
  pid_t thread = 0;
  Graph* graph = nullptr;
  bool made_graph =
      false;  // else it is the application's: it stays, whatever becomes of the capture
  bool invalid = false;
  std::set<Stream*> streams;
  // What work was captured after, whatever becomes of the edges.
  std::map<const GraphNode*, std::vector<GraphNode*>> came_after;
  std::vector<GraphNode*> let_go;  // by a call that replaced what a stream comes after
};

namespace {

std::atomic<int> capture_count{0};
std::uint64_t next_capture_id = 1;
thread_local constinit CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

std::map<std::uint64_t, Capture*>& Captures() {
  static auto& map = *new std::map<std::uint64_t, Capture*>;
  return map;
}

// What is joined to the origin, or is not by the application's own will.
std::set<GraphNode*> Joined(const Capture& capture) {
  std::vector<GraphNode*> nodes = capture.origin->captured_after.nodes();
  nodes.insert(nodes.end(), capture.let_go.begin(), capture.let_go.end());
  std::set<GraphNode*> seen;
  while (!nodes.empty()) {
    GraphNode* node = nodes.back();
    nodes.pop_back();
    if (!seen.insert(node).second) continue;
    nodes.insert(nodes.end(), node->after.begin(), node->after.end());
    const auto captured = capture.came_after.find(node);
    if (captured == capture.came_after.end()) continue;
    nodes.insert(nodes.end(), captured->second.begin(), captured->second.end());
  }
  return seen;
}

bool AllJoined(const Capture& capture) {
  const std::set<GraphNode*> joined = Joined(capture);
  for (const Stream* stream : capture.streams) {
    for (GraphNode* node : stream->captured_after) {
      if (joined.count(node) == 0) return false;
    }
  }
  return true;
}

Capture* CaptureOf(const Event* event) {
  const auto found = Captures().find(event->capture_id);
  return found == Captures().end() ? nullptr : found->second;
}

enum class Outcome { kGraph, kNoGraph };

void Dissolve(Capture* capture, Outcome outcome) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->captured_after.Clear();
  }
  Captures().erase(capture->id);
  --capture->graph->captures;
  if (outcome == Outcome::kNoGraph && capture->made_graph) DestroyGraph(capture->graph);
  delete capture;
  --capture_count;
}

bool Hinders(const Capture& capture, pid_t thread) {
  switch (thread_mode) {
    case CU_STREAM_CAPTURE_MODE_GLOBAL:
      return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
             (capture.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && capture.thread == thread);
    case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL:
      return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture.thread == thread;
    default:
      return false;
  }
}

// Those with streams that would wait for work of `stream`, which is a legacy one.
std::vector<Capture*> CapturesEnteredBy(const Stream& stream) {
  std::vector<Capture*> entered;
  if (!stream.is_legacy() || (stream.flags & CU_STREAM_NON_BLOCKING) != 0) return entered;
  for (const auto& [id, capture] : Captures()) {
    const bool waits =
        std::any_of(capture->streams.begin(), capture->streams.end(), [&](const Stream* captured) {
          return captured->context == stream.context &&
                 (captured->flags & CU_STREAM_NON_BLOCKING) == 0;
        });
    if (waits) entered.push_back(capture);
  }
  return entered;
}

bool RunsInContext(const Operation& operation) {
  switch (NodeTypeOf(operation)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return true;
    default:
      return false;
  }
}

// A captured kernel has the attributes of its stream.
void TakeAttributes(const Stream& stream, GraphNode* node) {
  const StreamAttributes& from = stream.attributes;
  auto& to = node->attributes;
  to[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = stream.priority;
  to[CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW].accessPolicyWindow = from.window;
  to[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP].memSyncDomainMap = from.domains;
  to[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN].memSyncDomain = from.domain;
}

}  // namespace

bool AnyCapture() { return capture_count.load(std::memory_order_acquire) != 0; }

std::uint64_t IdOf(const Capture* capture) { return capture->id; }

CUresult BeginCapture(Stream* stream, CUstreamCaptureMode mode, Graph* into, Dependencies after) {
  if (stream->is_legacy()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture.load() != nullptr) {
    stream->capture.load()->invalid = true;
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  if (into != nullptr && !AreNodesOf(into, after.nodes())) return CUDA_ERROR_INVALID_VALUE;
  auto* capture = new Capture;
  capture->id = next_capture_id++;
  capture->mode = mode;
  capture->origin = stream;
  capture->thread = gettid();
  if (into == nullptr) {
    std::shared_ptr<Graph> made = NewGraph();
    made->self = made;
    into = made.get();
    capture->made_graph = true;
  }
  capture->graph = into;
  ++into->captures;
  capture->streams.insert(stream);
  Captures()[capture->id] = capture;
  ++capture_count;
  stream->captured_after = std::move(after);
  stream->capture = capture;
  return CUDA_SUCCESS;
}

CUresult EndCapture(Stream* stream, Graph** out) {
  Capture* capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != gettid()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  CUresult result = CUDA_SUCCESS;
  if (capture->origin != stream) {
    capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->invalid) {
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  } else if (!AllJoined(*capture)) {
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  Graph* graph = capture->graph;
  Dissolve(capture, result == CUDA_SUCCESS ? Outcome::kGraph : Outcome::kNoGraph);
  *out = result == CUDA_SUCCESS ? graph : nullptr;
  return result;
}

CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

CUresult CheckSubmission(Stream* stream) {
  if (const Capture* capture = stream->capture) {
    return capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  }
  const std::vector<Capture*> entered = CapturesEnteredBy(*stream);
  for (Capture* capture : entered) capture->invalid = true;
  return entered.empty() ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult AddCaptured(Stream* stream, Operation operation, GraphNode** out) {
  Context* context = RunsInContext(operation) ? stream->context : nullptr;
  GraphNode* node = nullptr;
  const CUresult added = AddNode(stream->capture.load()->graph, stream->captured_after,
                                 {std::move(operation), context}, &node);
  if (added != CUDA_SUCCESS) return added;
  if (NodeTypeOf(node->operation) == CU_GRAPH_NODE_TYPE_KERNEL) TakeAttributes(*stream, node);
  stream->capture.load()->came_after[node] = stream->captured_after.nodes();
  stream->captured_after.Clear();
  stream->captured_after.Add(node);
  if (out != nullptr) *out = node;
  return CUDA_SUCCESS;
}

CUresult WaitInCapture(Stream* stream, Event* event) {
  Capture* captured = CaptureOf(event);
  Capture* here = stream->capture;
  if (captured == nullptr) {
    if (event->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
    if (here == nullptr || !event->IsRecorded()) return CUDA_SUCCESS;
    here->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (captured->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (here == nullptr) {
    if (stream->is_legacy()) {
      captured->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream->capture = captured;
    stream->captured_after = event->captured_after;
    captured->streams.insert(stream);
    return CUDA_SUCCESS;
  }
  if (here != captured) {
    here->invalid = captured->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  stream->captured_after.Add(event->captured_after);
  return CUDA_SUCCESS;
}

CUresult RefuseOn(Stream* stream) {
  Capture* capture = stream->capture;
  if (capture == nullptr) return CheckSubmission(stream);
  capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void ForgetStream(Capture* capture, Stream* stream) {
  capture->invalid = true;
  capture->streams.erase(stream);
  if (capture->origin == stream) Dissolve(capture, Outcome::kNoGraph);
}

CUresult CheckUnsafeCall() {
  if (!AnyCapture()) return CUDA_SUCCESS;
  const EngineLock lock;
  CUresult result = CUDA_SUCCESS;
  const pid_t thread = gettid();
  for (const auto& [id, capture] : Captures()) {
    if (!Hinders(*capture, thread)) continue;
    capture->invalid = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

void InvalidateCaptureOf(const Event* event) {
  if (Capture* capture = CaptureOf(event)) capture->invalid = true;
}

CUresult DescribeCapture(Stream* stream, CaptureInfo* out) {
  if (stream->capture.load() == nullptr && !CapturesEnteredBy(*stream).empty()) {
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  const Capture* capture = stream->capture;
  *out = CaptureInfo{};
  if (capture == nullptr) return CUDA_SUCCESS;
  out->status =
      capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  out->id = capture->id;
  out->graph = capture->graph;
  return CUDA_SUCCESS;
}

CUresult UpdateDependencies(Stream* stream, const Dependencies& after, bool replace) {
  Capture* capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!AreNodesOf(capture->graph, after.nodes())) return CUDA_ERROR_INVALID_VALUE;
  if (replace) {
    const std::vector<GraphNode*>& old = stream->captured_after.nodes();
    capture->let_go.insert(capture->let_go.end(), old.begin(), old.end());
    stream->captured_after.Clear();
  }
  stream->captured_after.Add(after);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
