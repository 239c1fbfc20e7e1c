// Launches of executable graphs.
//
// Laws: 1. A launch comes after the work of its stream, after earlier launches of the same
//          executable graph.
//       2. Its nodes wait for events and record them one by one (graph_events.h).
//       3. What a launch allocates or frees is settled at the call, as for pools; a launch that is
//          refused changed nothing.
// Threads: any; the engine's lock is taken inside, and not held by callers.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/graph_events.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/graph_run.h"
#include "tests/sim/engine/stream.h"

namespace cuheap::sim {

struct GraphLaunch {
  GraphLaunch(std::shared_ptr<Graph> launched, std::vector<std::shared_ptr<GraphMemory>> needed,
              GraphEvents with, const Context& context);
  ~GraphLaunch();
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;
  CUresult Advance();

  const std::shared_ptr<Graph> graph;
  const std::vector<std::shared_ptr<GraphMemory>> memory;
  GraphEvents events;
  const GraphRun::Nodes lost;
  GraphRun run;
};

// INVALID_VALUE: memory of an earlier launch was not freed, or what it would free was not
// allocated. OUT_OF_MEMORY: no physical memory for its allocations. CONTEXT_IS_DESTROYED, or its
// sticky error: the context of a node.
CUresult LaunchGraph(GraphExec* exec, Stream* stream);
CUresult UploadGraph(GraphExec* exec);

}  // namespace cuheap::sim
