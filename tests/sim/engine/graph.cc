#include "tests/sim/engine/graph.h"

#include <algorithm>
#include <set>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

std::set<Graph*>& LivingGraphs() {
  static auto& set = *new std::set<Graph*>;
  return set;
}

// Nodes of `graph` so that each comes after its dependencies; shorter than the graph on a cycle.
std::vector<GraphNode*> Ordered(const Graph& graph) {
  std::vector<GraphNode*> order;
  std::set<GraphNode*> done;
  bool progress = true;
  while (progress) {
    progress = false;
    for (GraphNode* node : graph.nodes) {
      if (done.count(node) != 0) continue;
      const bool ready = std::all_of(node->after.begin(), node->after.end(),
                                     [&](GraphNode* before) { return done.count(before) != 0; });
      if (!ready) continue;
      done.insert(node);
      order.push_back(node);
      progress = true;
    }
  }
  return order;
}

std::shared_ptr<Graph> CloneInOrder(const Graph& graph, const std::vector<GraphNode*>& order) {
  auto copy = NewGraph();
  std::map<GraphNode*, GraphNode*> twin;
  for (GraphNode* node : order) {
    GraphNode* added = Nodes().New();
    added->graph = copy.get();
    added->operation = node->operation;
    for (GraphNode* before : node->after) added->after.push_back(twin.at(before));
    copy->nodes.push_back(added);
    twin[node] = added;
  }
  for (const auto& [object, count] : graph.objects) {
    object->references += count;
    copy->objects[object] = count;
  }
  return copy;
}

std::vector<std::size_t> Positions(const Graph& graph, const GraphNode& node) {
  std::vector<std::size_t> result;
  for (GraphNode* before : node.after) {
    result.push_back(static_cast<std::size_t>(
        std::find(graph.nodes.begin(), graph.nodes.end(), before) - graph.nodes.begin()));
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

HandlePool<GraphNode>& Nodes() {
  static auto& pool = *new HandlePool<GraphNode>;
  return pool;
}
HandlePool<GraphExec>& Execs() {
  static auto& pool = *new HandlePool<GraphExec>;
  return pool;
}
HandlePool<UserObject>& UserObjects() {
  static auto& pool = *new HandlePool<UserObject>;
  return pool;
}

Graph* FindGraph(CUgraph handle) {
  const auto found = LivingGraphs().find(reinterpret_cast<Graph*>(handle));
  return found == LivingGraphs().end() ? nullptr : *found;
}

std::shared_ptr<Graph> NewGraph() {
  auto graph = std::make_shared<Graph>();
  LivingGraphs().insert(graph.get());
  return graph;
}

Graph::~Graph() {
  const EngineLock lock;
  LivingGraphs().erase(this);
  for (GraphNode* node : nodes) Nodes().Delete(node);
  for (const auto& [object, count] : objects) ReleaseUserObject(object, count);
}

std::shared_ptr<Graph> CloneGraph(const Graph& graph) {
  const auto order = Ordered(graph);
  return order.size() == graph.nodes.size() ? CloneInOrder(graph, order) : nullptr;
}

void DestroyGraph(Graph* graph) { graph->self.reset(); }

CUresult AddNode(Graph* graph, std::vector<GraphNode*> after, Operation operation,
                 GraphNode** out) {
  const std::set<GraphNode*> distinct(after.begin(), after.end());
  if (distinct.size() != after.size()) return CUDA_ERROR_INVALID_VALUE;
  for (GraphNode* before : after) {
    if (Nodes().Find(before) == nullptr || before->graph != graph) return CUDA_ERROR_INVALID_VALUE;
  }
  GraphNode* node = Nodes().New();
  node->graph = graph;
  node->operation = std::move(operation);
  node->after = std::move(after);
  graph->nodes.push_back(node);
  *out = node;
  return CUDA_SUCCESS;
}

void RemoveNode(GraphNode* node) {
  for (GraphNode* other : node->graph->nodes) std::erase(other->after, node);
  std::erase(node->graph->nodes, node);
  Nodes().Delete(node);
}

CUresult MakeAllocOp(int device, std::uint64_t bytes, AllocOp* out) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > DeviceCapacity(device)) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::uint64_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  auto region = MapNewRegion(device, whole, MemoryKind::kGraph);
  if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  block.base = region->base;
  block.bytes = bytes;
  block.type = AllocationType::kGraph;
  block.device = device;
  block.region = *region;
  out->memory = std::make_shared<GraphMemory>(std::move(*region));
  out->bytes = bytes;
  AddAllocation(std::move(block));
  return CUDA_SUCCESS;
}

GraphExec* Instantiate(Graph* graph, std::uint64_t flags) {
  std::shared_ptr<Graph> copy = CloneGraph(*graph);
  if (copy == nullptr) return nullptr;
  GraphExec* exec = Execs().New();
  exec->graph = std::move(copy);
  exec->flags = flags;
  return exec;
}

CUgraphExecUpdateResult UpdateExec(GraphExec* exec, Graph* graph, GraphNode** culprit) {
  const std::shared_ptr<Graph> fresh = CloneGraph(*graph);
  const Graph& old = *exec->graph;
  *culprit = nullptr;
  if (fresh == nullptr || fresh->nodes.size() != old.nodes.size()) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  for (std::size_t i = 0; i < old.nodes.size(); ++i) {
    *culprit = graph->nodes[i];
    if (NodeTypeOf(old.nodes[i]->operation) != NodeTypeOf(fresh->nodes[i]->operation)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    }
    if (Positions(old, *old.nodes[i]) != Positions(*fresh, *fresh->nodes[i])) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
  }
  *culprit = nullptr;
  exec->graph = fresh;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUresult RunGraph(const Graph& graph) {
  for (const GraphNode* node : graph.nodes) {
    const CUresult result = Execute(node->operation);
    if (result != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  return CUDA_SUCCESS;
}

void ReleaseUserObject(UserObject* object, unsigned count) {
  object->references -= count;
  if (object->references != 0) return;
  object->destroy(object->data);
  UserObjects().Delete(object);
}

}  // namespace cuheap::sim
