#include "tests/sim/engine/context_events.h"

#include <map>
#include <vector>

#include "tests/sim/engine/capture.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

// The end of all that a context was made to wait for; engine's lock.
std::map<const Context*, TicketPtr>& Waits() {
  static auto& waits = *new std::map<const Context*, TicketPtr>;
  return waits;
}

TicketPtr WaitOf(const Context* context) {
  const EngineLock lock;
  const auto found = Waits().find(context);
  return found == Waits().end() ? nullptr : found->second;
}

bool Means(const Context* context, const Stream& stream) {
  return stream.context == context || stream.context->parent == context;
}

std::vector<Stream*> StreamsOf(const Context* context) {
  std::vector<Stream*> streams;
  Streams().ForEach([&](Stream* stream) {
    if (Means(context, *stream) && stream->context->alive) streams.push_back(stream);
  });
  return streams;
}

CUresult RefuseCaptured(const std::vector<Stream*>& streams) {
  CUresult result = CUDA_SUCCESS;
  for (Stream* stream : streams) {
    if (stream->capture.load() != nullptr) result = RefuseOn(stream);
  }
  return result;
}

}  // namespace

CUresult RecordContext(Context* context, Event* event) {
  if (event->context != RootOf(context)) return CUDA_ERROR_INVALID_HANDLE;
  {
    const EngineLock lock;
    const CUresult result = RefuseCaptured(StreamsOf(context));
    if (result != CUDA_SUCCESS) return result;
  }
  if (!IsQueued()) {
    event->MarkReached();
    return CUDA_SUCCESS;
  }
  event->MarkQueued(EnqueueApart(context, RecordOperation(*event), LastOfContext(context)));
  return CUDA_SUCCESS;
}

CUresult MakeContextWait(Context* context, Event* event) {
  std::vector<Stream*> streams;
  {
    const EngineLock lock;
    streams = StreamsOf(context);
    const CUresult result = RefuseCaptured(streams);
    if (result != CUDA_SUCCESS) return result;
    if (event->capture_id.load() != 0) {
      InvalidateCaptureOf(event);
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  const TicketPtr record = LatestRecord(*event);
  if (record == nullptr) return CUDA_SUCCESS;
  std::vector<TicketPtr> after{record};
  if (TicketPtr before = WaitOf(context)) after.push_back(std::move(before));
  const TicketPtr wait = EnqueueApart(context, EmptyOp{}, std::move(after));
  {
    const EngineLock lock;
    Waits()[context] = wait;
  }
  for (Stream* stream : streams) {
    const CUresult result = Enqueue(stream, EmptyOp{}, {wait});
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

void BeginAfterContextWaits(Stream* stream) {
  if (!IsQueued()) return;
  std::vector<TicketPtr> after;
  {
    const EngineLock lock;
    for (const auto& [context, wait] : Waits())
      if (Means(context, *stream)) after.push_back(wait);
  }
  if (!after.empty()) Enqueue(stream, EmptyOp{}, after);
}

void ForgetContextWaits(const Context* context) {
  const EngineLock lock;
  Waits().erase(context);
}

}  // namespace cuheap::sim
