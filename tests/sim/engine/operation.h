// What can be queued on a stream or stand in a graph: plain values that know which memory they
// touch. The eager clock executes an operation when it is submitted; a clock that delays work keeps
// the same objects in its queues.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/sim/engine/physical_memory.h"
#include "tests/sim/engine/tiling.h"

namespace cuheap::sim {

struct Conditional;
struct ConditionalWrites;
struct Context;
struct Event;
struct Function;
struct Graph;
struct GraphLaunch;
struct GraphMemory;
struct SemaphoreBatch;

struct EmptyOp {};
struct KernelOp {
  Function* function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};
struct TouchedRange {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  bool writes = false;
  bool driver_knows = false;  // what is not the driver's memory is not touched
};
// A kernel that declares what it touches: those of tests and of the stand-ins for libraries. Its
// body, if it has one, does the work on that memory.
struct TouchOp {
  std::string name;
  std::vector<TouchedRange> ranges;
  std::function<void()> body{};
  bool between_contexts = false;  // a collective: each range was named by a rank that may touch it
};
// The side of a copy that is an array, and where the box begins in it: bytes, rows, slices.
struct ArraySide {
  CUarray array = nullptr;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
  std::uintptr_t base = 0;  // of the array, with its tiling
  Tiling tiling;
};
// A box of bytes. Rows are `pitch` apart, planes `slice` apart, unless the side is a tiled array.
struct CopyOp {
  std::uintptr_t to = 0;
  std::uintptr_t from = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  std::uint64_t to_pitch = 0;
  std::uint64_t to_slice = 0;
  std::uint64_t from_pitch = 0;
  std::uint64_t from_slice = 0;
  std::shared_ptr<std::vector<std::byte>> staged{};  // what `from` points to, where it was taken
  bool source_now = false;                           // read it before the call returns
  std::shared_ptr<const ArraySide> to_array{};
  std::shared_ptr<const ArraySide> from_array{};
  bool between_contexts = false;               // the call named the contexts of both sides
  std::shared_ptr<const CUDA_MEMCPY3D> box{};  // of a node: as it was given
};
struct FillOp {
  std::uintptr_t to = 0;
  std::uint64_t pitch = 0;
  std::uint32_t value = 0;
  std::uint32_t element = 1;  // bytes: 1, 2 or 4
  std::uint64_t width = 0;    // elements
  std::uint64_t height = 1;
};
// Memory operations, as the interface describes them. In a stream each is an operation of its own.
struct BatchOp {
  std::vector<CUstreamBatchMemOpParams> list;
  CUcontext context = nullptr;
  std::shared_ptr<const SemaphoreBatch> semaphores{};  // none: values in memory of the program
};
enum class HostCall {
  kProgram,   // a function of the program: not called in a context that is broken
  kCallback,  // a function of the program that is called in any case
  kEngine
};
struct HostOp {
  CUhostFn function = nullptr;
  void* data = nullptr;
  HostCall kind = HostCall::kProgram;
};
struct RecordOp {
  Event* event = nullptr;
};
struct WaitOp {
  Event* event = nullptr;
};
struct AllocOp {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeOp {  // memory of an allocation node
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;  // of a node
};
// Gives memory to tiles of an array, or takes it from them: cuMemMapArrayAsync.
struct MapArrayOp {
  std::vector<std::uintptr_t> tiles;
  PhysicalPtr pages;         // none: takes it
  std::uint64_t offset = 0;  // in `pages`, of the first tile; the others follow
};
struct ChildOp {
  std::shared_ptr<Graph> graph;
};
struct ConditionalOp {
  std::shared_ptr<Conditional> node;
};
// What a kernel would write into the handle of a conditional node.
struct SetConditionalOp {
  std::shared_ptr<ConditionalWrites> writes;
};
struct LaunchOp {  // of an executable graph, in a stream
  std::shared_ptr<GraphLaunch> launch;
};

using Operation =
    std::variant<EmptyOp, KernelOp, TouchOp, CopyOp, FillOp, BatchOp, HostOp, RecordOp, WaitOp,
                 AllocOp, FreeOp, MapArrayOp, ChildOp, ConditionalOp, SetConditionalOp, LaunchOp>;

// Checks the ranges of a copy, fill or write against the allocations, then does the work in
// `context`.
// INVALID_VALUE: it touches device addresses that no allocation covers. ILLEGAL_ADDRESS:
// memory that the device may not access (peer_access.h), parts of an array that have no memory.
// NOT_READY: it waits for a value in memory or, in a graph, for an event, and goes on where it
// stopped when it is called again; other threads meanwhile do not call it. Other codes break the
// context. REQUIRES: not a node's part of a graph (graph_run.h).
CUresult Execute(const Operation& operation, const Context& context);
CUgraphNodeType NodeTypeOf(const Operation& operation);

}  // namespace cuheap::sim
