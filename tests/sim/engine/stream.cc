#include "tests/sim/engine/stream.h"

#include <vector>

#include "tests/sim/engine/capture.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/context_events.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

std::atomic<std::uint64_t> next_id{1};

// A default stream of a thread's own. Handles are used again, numbers are not.
struct ThreadStream {
  std::uint64_t context_id = 0;
  Stream* stream = nullptr;
  std::uint64_t id = 0;

  bool Lives() const { return Streams().Find(stream) != nullptr && stream->id == id; }
};

ThreadStream NewThreadStream(Context* context) {
  Stream* stream = NewStream(context, CU_STREAM_DEFAULT, 0);
  return {context->id, stream, stream->id};
}

// For calls of other destructors at thread exit. Plain data, so that they find it.
thread_local constinit bool thread_ends = false;
thread_local constinit ThreadStream last_stream{};

// They go with the thread, or with their contexts.
struct ThreadStreams {
  std::vector<ThreadStream> list;

  ~ThreadStreams() {
    thread_ends = true;
    for (const ThreadStream& mine : list)
      if (mine.Lives()) DestroyStream(mine.stream);
  }

  Stream* Of(Context* context) {
    for (const ThreadStream& mine : list)
      if (mine.context_id == context->id) return mine.stream;
    std::erase_if(list, [](const ThreadStream& mine) { return !mine.Lives(); });
    list.push_back(NewThreadStream(context));
    return list.back().stream;
  }
};

Stream* PerThreadStream(Context* context) {
  if (thread_ends) {
    if (last_stream.context_id != context->id) last_stream = NewThreadStream(context);
    return last_stream.stream;
  }
  static thread_local ThreadStreams mine;
  return mine.Of(context);
}

CUresult SubmitEach(Stream* stream, const BatchOp& batch) {
  for (const CUstreamBatchMemOpParams& operation : batch.list) {
    const CUresult result =
        SubmitAfter(stream, BatchOp{{operation}, batch.context, batch.semaphores}, {}, nullptr);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// What is external to a capture has no meaning outside of one.
CUresult CheckExternal(const Stream& stream, bool external) {
  return external && stream.capture.load() == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

HandlePool<Stream>& Streams() {
  static auto& pool = *new HandlePool<Stream>;
  return pool;
}

Stream* NewStream(Context* context, unsigned flags, int priority) {
  Stream* stream = Streams().New();
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = next_id++;
  if (IsQueued()) stream->queue = NewQueue(context, (flags & CU_STREAM_NON_BLOCKING) == 0);
  BeginAfterContextWaits(stream);
  return stream;
}

void DestroyStream(Stream* stream) {
  const EngineLock lock;
  if (Capture* capture = stream->capture) ForgetStream(capture, stream);
  if (stream->queue != nullptr) OrphanQueue(stream->queue);
  Streams().Delete(stream);
}

void DestroyStreamsAndEventsOf(const Context* context) {
  Streams().ForEach([&](Stream* stream) {
    if (RootOf(stream->context) != context) return;
    const bool stays = stream->context != context;  // a green context's, see EndGreen
    if (!stays) return DestroyStream(stream);
    if (Capture* capture = stream->capture) ForgetStream(capture, stream);
  });
  Events().ForEach([&](Event* event) {
    if (event->context == context) Events().Delete(event);
  });
}

CUresult ResolveStream(CUstream handle, bool per_thread, Stream** out) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value > 2) {
    *out = Streams().Find(handle);
    if (*out == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Context& owner = *(*out)->context;
    return owner.alive ? owner.broken.load() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  Context* context = nullptr;
  const CUresult result = CurrentContext(&context);
  if (result != CUDA_SUCCESS) return result;
  const bool thread_stream = value == 2 || (value == 0 && per_thread);
  if (thread_stream && context->parent != nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *out = thread_stream ? PerThreadStream(context) : context->legacy_stream.load();
  return CUDA_SUCCESS;
}

CUresult Submit(Stream* stream, Operation operation, GraphNode** node) {
  if (AnyCapture()) {
    const EngineLock lock;
    const CUresult result = CheckSubmission(stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream->capture.load() != nullptr) return AddCaptured(stream, std::move(operation), node);
  }
  if (const auto* batch = std::get_if<BatchOp>(&operation)) return SubmitEach(stream, *batch);
  return SubmitAfter(stream, std::move(operation), {}, nullptr);
}

CUresult SubmitAfter(Stream* stream, Operation operation, const std::vector<TicketPtr>& after,
                     TicketPtr* end) {
  if (IsQueued()) return Enqueue(stream, std::move(operation), after, end);
  const CUresult result = Execute(operation, *stream->context);
  if (result == CUDA_ERROR_NOT_READY) {
    BeginQueues();
    return Enqueue(stream, std::move(operation), after, end);
  }
  const bool breaks = result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT;
  if (breaks) Break(stream->context, result);
  return result;
}

CUresult SubmitKernel(Stream* stream, const KernelOp& kernel) {
  if (!AnyCapture() && !IsQueued()) return CUDA_SUCCESS;
  return Submit(stream, kernel);
}

CUresult RecordEvent(Stream* stream, Event* event, bool external) {
  if (event->context != RootOf(stream->context)) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult known = CheckExternal(*stream, external);
  if (known != CUDA_SUCCESS) return known;
  if (AnyCapture()) {
    const EngineLock lock;
    const CUresult result = CheckSubmission(stream);
    if (result != CUDA_SUCCESS) return result;
    if (Capture* capture = stream->capture) {
      if (external) return AddCaptured(stream, RecordOp{event}, nullptr);
      event->captured_after = stream->captured_after;
      event->capture_id = IdOf(capture);
      return CUDA_SUCCESS;
    }
  }
  if (IsQueued()) {
    TicketPtr ticket;
    const CUresult result = Enqueue(stream, RecordOperation(*event), {}, &ticket);
    event->MarkQueued(std::move(ticket));
    return result;
  }
  event->MarkReached();
  return CUDA_SUCCESS;
}

CUresult WaitEvent(Stream* stream, Event* event, bool external) {
  const CUresult known = CheckExternal(*stream, external);
  if (known != CUDA_SUCCESS) return known;
  if (AnyCapture()) {
    const EngineLock lock;
    const CUresult result = CheckSubmission(stream);
    if (result != CUDA_SUCCESS) return result;
    if (external && stream->capture.load() != nullptr)
      return AddCaptured(stream, WaitOp{event}, nullptr);
    const CUresult joined = WaitInCapture(stream, event);
    if (joined != CUDA_SUCCESS || stream->capture.load() != nullptr) return joined;
  } else if (event->capture_id.load() != 0) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  const TicketPtr record = LatestRecord(*event);
  return record == nullptr ? CUDA_SUCCESS : Enqueue(stream, EmptyOp{}, {record});
}

}  // namespace cuheap::sim
