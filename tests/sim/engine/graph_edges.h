// What a node of a graph comes after: other nodes, and for each how (the data of the edge), in the
// order in which they were added. The interface hands both out as arrays.
//
// Law: no node is named twice.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

struct GraphNode;

class Dependencies {
 public:
  Dependencies() = default;

  // With whole completion of the node before, unless `edge` says otherwise. A node that is named
  // already stays: with the plain edge, if either is plain.
  void Add(GraphNode* before, const CUgraphEdgeData& edge = {});
  void Add(const Dependencies& others);
  void Remove(const GraphNode* before);
  void Clear();

  // nullptr: no edge comes from there.
  const CUgraphEdgeData* EdgeFrom(const GraphNode* before) const;
  bool AllPlain() const;

  const std::vector<GraphNode*>& nodes() const { return nodes_; }
  const std::vector<CUgraphEdgeData>& edges() const { return edges_; }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }
  std::size_t size() const { return nodes_.size(); }
  bool empty() const { return nodes_.empty(); }

 private:
  std::vector<GraphNode*> nodes_;
  std::vector<CUgraphEdgeData> edges_;  // by place in nodes_
};

bool IsPlain(const CUgraphEdgeData& edge);
bool AreSame(const CUgraphEdgeData& one, const CUgraphEdgeData& other);
// Whether the interface has such an edge between two nodes: ports and types are for kernels.
bool IsEdge(const CUgraphEdgeData& edge, const Operation& before, const Operation& after);
bool AreEdgesTo(const Operation& after, const Dependencies& dependencies);
// Whether what comes after may begin before the work before it is done, and has no way to wait.
bool OrdersBeginningOnly(const CUgraphEdgeData& edge);

}  // namespace cuheap::sim
