// Events of whole contexts: what all streams of a context do before an event, and what all of them
// wait for, streams that are made later too. A primary context means its green ones as well.
// Threads: every function takes the engine's lock, and none waits under it.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/event.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {

// STREAM_CAPTURE_UNSUPPORTED, invalidating the captures: a stream of the context is being captured,
// or the event belongs to a capture.
CUresult RecordContext(Context* context, Event* event);
CUresult MakeContextWait(Context* context, Event* event);
// A new stream begins after what its context was made to wait for.
void BeginAfterContextWaits(Stream* stream);
void ForgetContextWaits(const Context* context);

}  // namespace cuheap::sim
