#include "tests/sim/engine/conditional.h"

#include <map>

namespace cuheap::sim {
namespace {

std::map<CUgraphConditionalHandle, std::weak_ptr<ConditionalHandle>>& HandlesById() {
  static auto& map = *new std::map<CUgraphConditionalHandle, std::weak_ptr<ConditionalHandle>>;
  return map;
}

bool MayHaveSize(CUgraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return size > 0 && size <= (1U << 20);
    default:
      return false;
  }
}

}  // namespace

const std::shared_ptr<Graph>* Conditional::BodyFor(unsigned value) const {
  std::size_t index = value;
  if (type != CU_GRAPH_COND_TYPE_SWITCH) index = value != 0 ? 0 : 1;
  return index < bodies.size() ? &bodies[index] : nullptr;
}

ConditionalHandle* NewConditionalHandle(Graph* graph, Context* context, unsigned initial,
                                        bool assigns_initial) {
  static CUgraphConditionalHandle next = 1;
  auto handle = std::make_shared<ConditionalHandle>();
  handle->id = next++;
  handle->graph = graph->id;
  handle->context = context;
  handle->initial = initial;
  handle->assigns_initial = assigns_initial;
  HandlesById()[handle->id] = handle;
  graph->handles.push_back(handle);
  return handle.get();
}

std::shared_ptr<ConditionalHandle> FindConditionalHandle(CUgraphConditionalHandle id) {
  const auto found = HandlesById().find(id);
  if (found == HandlesById().end()) return nullptr;
  auto handle = found->second.lock();
  if (handle == nullptr) HandlesById().erase(found);
  return handle;
}

CUresult MakeConditional(std::shared_ptr<ConditionalHandle> handle, const Context* context,
                         CUgraphConditionalNodeType type, unsigned size, ConditionalOp* out) {
  if (handle == nullptr || handle->context != context || !MayHaveSize(type, size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto node = std::make_shared<Conditional>();
  node->handle = std::move(handle);
  node->type = type;
  for (unsigned i = 0; i < size; ++i) {
    node->bodies.push_back(NewGraph());
    node->bodies.back()->place = GraphPlace::kBody;
    node->body_handles.push_back(reinterpret_cast<CUgraph>(node->bodies.back().get()));
  }
  out->node = std::move(node);
  return CUDA_SUCCESS;
}

CUresult WriteNext(ConditionalWrites* writes) {
  const std::size_t turn = writes->done++;
  writes->handle->value = writes->values[turn % writes->values.size()];
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
