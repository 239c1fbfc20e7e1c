// One run of a graph: its nodes are done one after the other, each after its dependencies. A run
// stops where all that is left waits for values in memory or for events, and goes on there when it
// is asked again.
//
// A WHILE node that does not end is a failure after kMostTurns, said on stderr: kernels compute
// nothing here, so what would end it must be told (cuheap_sim_set_conditional).
// Threads: one at a time; the engine's lock is not held while a node is done.
#pragma once

#include <cuda.h>

#include <memory>
#include <set>
#include <vector>

#include "tests/sim/engine/graph.h"
#include "tests/sim/engine/graph_events.h"

namespace cuheap::sim {

class GraphRun {
 public:
  static constexpr std::size_t kMostTurns = 100'000;

  // `events`: of the launch; they outlive the run, as `lost` does: nodes whose memory was not there
  // when the graph was launched.
  using Nodes = std::set<const GraphNode*>;
  GraphRun(std::shared_ptr<const Graph> graph, const Context& context, GraphEvents* events,
           const Nodes* lost);

  // SUCCESS: all is done. NOT_READY: it waits. Anything else: the run failed, and broke the context
  // of the node that did and its own.
  CUresult Advance();

 private:
  struct Progress {
    bool done = false;
    std::size_t step = 0;             // operations of a batch, bodies of a loop: done so far
    std::unique_ptr<GraphRun> inner;  // the graph inside the node that runs now
    std::vector<std::size_t> after;
  };

  bool IsReady(const Progress& progress) const;
  const Context& ContextOf(const GraphNode& node) const;
  CUresult Fail(const GraphNode& node, CUresult result);
  CUresult AdvanceNode(const GraphNode& node, Progress* progress);
  CUresult AdvanceInner(Progress* progress);
  CUresult AdvanceBatch(const BatchOp& batch, const Context& context, Progress* progress);
  CUresult AdvanceConditional(const Conditional& node, Progress* progress);

  std::shared_ptr<const Graph> graph_;
  const Context& context_;  // where it was launched; never destroyed
  GraphEvents* const events_;
  const Nodes* const lost_;
  std::vector<Progress> progress_;  // by place of the node
  bool begun_ = false;
};

}  // namespace cuheap::sim
