// Captures: streams whose work becomes graph nodes.
//
// Laws: 1. A capture starts in one stream (its origin) and reaches others through events.
//       2. Whatever breaks the rules of a capture invalidates it; its end then says INVALIDATED and
//          gives no graph.
//       3. All streams must have joined the origin again at the end (UNJOINED otherwise). What the
//          application itself took out of the dependencies does not count.
//       4. A call that a capture cannot see through ("unsafe": allocation, synchronisation, query)
//          is refused as the thread's capture mode says, and invalidates the captures in its way.
// Threads: AnyCapture is an atomic; callers of the rest hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/sim/engine/graph_edges.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {

// Is any stream of the process being captured? False is the fast path of everything.
bool AnyCapture();

std::uint64_t IdOf(const Capture* capture);
// Into a new graph, or into `into`, after nodes of it; INVALID_VALUE: they are not its nodes.
CUresult BeginCapture(Stream* stream, CUstreamCaptureMode mode, Graph* into, Dependencies after);
CUresult EndCapture(Stream* stream, Graph** out);
CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode);

// May `stream` take work now? Refuses invalidated captures and the legacy stream while a blocking
// stream of its context is captured (IMPLICIT).
CUresult CheckSubmission(Stream* stream);
// REQUIRES: the stream is being captured. INVALID_VALUE: the graph may not have such a node.
CUresult AddCaptured(Stream* stream, Operation operation, GraphNode** out);
CUresult WaitInCapture(Stream* stream, Event* event);
// A captured stream was synchronised, queried or destroyed.
CUresult RefuseOn(Stream* stream);
void ForgetStream(Capture* capture, Stream* stream);
// Law 4, for the calling thread.
CUresult CheckUnsafeCall();
// The event was recorded in a capture that goes on: touching it from outside invalidates that.
void InvalidateCaptureOf(const Event* event);

struct CaptureInfo {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  std::uint64_t id = 0;
  Graph* graph = nullptr;
};
CUresult DescribeCapture(Stream* stream, CaptureInfo* out);
CUresult UpdateDependencies(Stream* stream, const Dependencies& after, bool replace);

}  // namespace cuheap::sim
