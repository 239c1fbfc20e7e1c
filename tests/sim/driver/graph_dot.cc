// A graph as a DOT file.
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/copy_types.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
constexpr unsigned kKnownFlags = (1U << 16) - 1;

__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

const char* TypeName(const Operation& operation) {
  constexpr const char* kNames[] = {"KERNEL",       "MEMCPY",     "MEMSET",     "HOST",
                                    "GRAPH",        "EMPTY",      "WAIT_EVENT", "EVENT_RECORD",
                                    "SEMA_SIGNAL",  "SEMA_WAIT",  "MEM_ALLOC",  "MEM_FREE",
                                    "BATCH_MEM_OP", "CONDITIONAL"};
  return kNames[NodeTypeOf(operation)];
}

std::string KernelName(const Operation& operation) {
  if (const auto* kernel = std::get_if<KernelOp>(&operation)) {
    const Function* function = Functions().Find(kernel->function);
    return function == nullptr ? "unloaded" : function->name;
  }
  const auto* touch = std::get_if<TouchOp>(&operation);
  return touch == nullptr ? "" : touch->name;
}

char LetterOf(CUmemorytype type) {
  if (type == CU_MEMORYTYPE_ARRAY) return 'A';
  return type == CU_MEMORYTYPE_HOST ? 'H' : 'D';
}

// Of a kernel its name, of a copy its direction: written unasked.
std::string TitleOf(const Operation& operation) {
  if (const auto* copy = std::get_if<CopyOp>(&operation))
    return Text("%cto%c", LetterOf(SourceTypeOf(*copy)), LetterOf(TargetTypeOf(*copy)));
  return KernelName(operation);
}

// The parameters of a node, and the flag that asks for those of its type.
struct Details {
  unsigned flag = 0;
  std::string text;
};

Details DetailsOf(const KernelOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
          Text("grid %u,%u,%u block %u,%u,%u shared %u", op.grid[0], op.grid[1], op.grid[2],
               op.block[0], op.block[1], op.block[2], op.shared_bytes)};
}
Details DetailsOf(const CopyOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
          Text("%#" PRIxPTR " to %#" PRIxPTR " %" PRIu64 "x%" PRIu64 "x%" PRIu64, op.from, op.to,
               op.width, op.height, op.depth)};
}
Details DetailsOf(const FillOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS,
          Text("%#" PRIxPTR " value %u %" PRIu64 "x%" PRIu64 " of %u", op.to, op.value, op.width,
               op.height, op.element)};
}
Details DetailsOf(const HostOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS,
          Text("function %p data %p", reinterpret_cast<void*>(op.function), op.data)};
}
Details DetailsOf(const RecordOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
          Text("event %p", static_cast<void*>(op.event))};
}
Details DetailsOf(const WaitOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
          Text("event %p", static_cast<void*>(op.event))};
}
Details DetailsOf(const AllocOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
          Text("%#" PRIxPTR " bytes %" PRIu64, op.memory->region.base, op.memory->bytes)};
}
Details DetailsOf(const FreeOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS, Text("%#" PRIxPTR, op.address)};
}
Details DetailsOf(const BatchOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
          Text("operations %zu", op.list.size())};
}
Details DetailsOf(const ConditionalOp& op) {
  return {CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS,
          Text("handle %llu type %d size %zu", static_cast<unsigned long long>(op.node->handle->id),
               op.node->type, op.node->bodies.size())};
}
template <class Other>
Details DetailsOf(const Other&) {
  return {};
}

std::string DetailsIfAsked(const Operation& operation, unsigned flags) {
  const Details details = std::visit([](const auto& op) { return DetailsOf(op); }, operation);
  const bool asked = (flags & (details.flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0;
  return asked && !details.text.empty() ? "\\n" + details.text : "";
}

void WriteGraph(std::FILE* file, const Graph& graph, unsigned flags);

void WriteInside(std::FILE* file, const Operation& operation, unsigned flags) {
  if (const auto* child = std::get_if<ChildOp>(&operation)) {
    WriteGraph(file, *child->graph, flags);
  } else if (const auto* conditional = std::get_if<ConditionalOp>(&operation)) {
    for (const auto& body : conditional->node->bodies) WriteGraph(file, *body, flags);
  }
}

void WriteNode(std::FILE* file, const GraphNode& node, unsigned flags) {
  const std::string name = TitleOf(node.operation);
  const std::string details = DetailsIfAsked(node.operation, flags);
  std::string handle;
  if ((flags & (CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0)
    handle = Text("\\nhandle %p", static_cast<const void*>(&node));
  std::fprintf(file, "\"node_%" PRIu64 "\" [shape=record label=\"%" PRIu64 "\\n%s%s%s%s%s\"];\n",
               node.id, node.id, TypeName(node.operation), name.empty() ? "" : "\\n", name.c_str(),
               details.c_str(), handle.c_str());
}

// Graphs inside nodes follow as clusters of their own.
void WriteGraph(std::FILE* file, const Graph& graph, unsigned flags) {
  std::fprintf(file, "subgraph cluster_%" PRIu64 " {\nlabel=\"graph_%" PRIu64 "\";\n", graph.id,
               graph.id);
  for (const GraphNode* node : graph.nodes) WriteNode(file, *node, flags);
  for (const GraphNode* node : graph.nodes)
    for (const GraphNode* before : node->after)
      std::fprintf(file, "\"node_%" PRIu64 "\" -> \"node_%" PRIu64 "\";\n", before->id, node->id);
  for (const GraphNode* node : graph.nodes) WriteInside(file, node->operation, flags);
  std::fputs("}\n", file);
}

}  // namespace

// PARTIAL: events, kernel attributes and numbers of edges are not written.
CUresult face::GraphDebugDotPrint(CUgraph handle, const char* path, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(path));
  if ((flags & ~kKnownFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  const File file(std::fopen(path, "w"), std::fclose);
  if (file == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
  std::fputs("digraph dot {\n", file.get());
  WriteGraph(file.get(), *graph, flags);
  std::fputs("}\n", file.get());
  return std::ferror(file.get()) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace cuheap::sim
