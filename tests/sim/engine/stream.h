// Streams, and the one place where work enters them. It becomes a graph node where the stream is
// being captured, is done at once under the plain eager clock, and goes into the stream's queue
// otherwise (work_queue.h). Work that waits for a value in memory cannot be done at once: the first
// of it makes queues for all that follows.
//
// The legacy default stream belongs to its context, the per-thread ones to (thread, context).
// Threads: Submit takes the engine's lock only for a captured stream.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/sim/engine/context.h"
#include "tests/sim/engine/graph_edges.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

struct Capture;
struct GraphNode;
struct Queue;
struct Ticket;

// What cuStreamSetAttribute sets, beside the priority.
struct StreamAttributes {
  CUaccessPolicyWindow window{};
  CUsynchronizationPolicy synchronization = CU_SYNC_POLICY_AUTO;
  CUlaunchMemSyncDomainMap domains{0, 1};
  CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
  unsigned nvlink_centric = 0;
};

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  StreamAttributes attributes;
  std::uint64_t id = 0;  // never repeats
  std::atomic<Capture*> capture{nullptr};
  std::shared_ptr<Queue> queue;  // none while work is done at once
  Dependencies captured_after;   // of the next captured node
  bool is_legacy() const { return context->legacy_stream.load() == this; }
};

inline constexpr int kLowestPriority = 0;
inline constexpr int kHighestPriority = -5;

inline int ClampPriority(int priority) {
  return std::min(kLowestPriority, std::max(kHighestPriority, priority));
}

HandlePool<Stream>& Streams();
Stream* NewStream(Context* context, unsigned flags, int priority);
void DestroyStream(Stream* stream);
void DestroyStreamsAndEventsOf(const Context* context);

// Default handles mean the current context; `per_thread` says what 0 means. A green context has no
// per-thread streams (INVALID_HANDLE); streams outlive it (CONTEXT_IS_DESTROYED).
CUresult ResolveStream(CUstream handle, bool per_thread, Stream** out);

// Runs or captures `operation`. The node, when one was made, goes to `*node`. INVALID_VALUE: the
// captured graph may not have such a node. Batches of memory operations are cut into single ones.
CUresult Submit(Stream* stream, Operation operation, GraphNode** node = nullptr);
// Outside captures: after `after` too. `*end` is its ticket; none where it was done at once.
CUresult SubmitAfter(Stream* stream, Operation operation,
                     const std::vector<std::shared_ptr<Ticket>>& after,
                     std::shared_ptr<Ticket>* end);
// A launch: validated by the caller, nothing to compute. Cheap outside captures.
CUresult SubmitKernel(Stream* stream, const KernelOp& kernel);
CUresult RecordEvent(Stream* stream, Event* event, bool external);
CUresult WaitEvent(Stream* stream, Event* event, bool external);

}  // namespace cuheap::sim
