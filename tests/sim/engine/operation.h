// What can be queued on a stream or stand in a graph: plain values that know which memory they
// touch. The eager clock executes an operation when it is submitted; a clock that delays work keeps
// the same objects in its queues.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/tiling.h"

namespace cuheap::sim {

struct Event;
struct Function;
struct Graph;

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
};
// A kernel that declares what it touches: those of tests and of the stand-ins for libraries.
struct TouchOp {
  std::string name;
  std::vector<TouchedRange> ranges;
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
};
struct FillOp {
  std::uintptr_t to = 0;
  std::uint64_t pitch = 0;
  std::uint32_t value = 0;
  std::uint32_t element = 1;  // bytes: 1, 2 or 4
  std::uint64_t width = 0;    // elements
  std::uint64_t height = 1;
};
struct WriteOp {  // cuStreamWriteValue
  std::uintptr_t to = 0;
  std::uint64_t value = 0;
  std::uint32_t bytes = 4;
};
struct HostOp {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct RecordOp {
  Event* event = nullptr;
};
struct WaitOp {
  Event* event = nullptr;
};
// Memory that a graph owns from the making of its node to the end of the last graph that has it.
struct GraphMemory {
  explicit GraphMemory(MappedRegion mapped) : region(std::move(mapped)) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  const MappedRegion region;
};
struct AllocOp {
  std::shared_ptr<GraphMemory> memory;
  std::uint64_t bytes = 0;
};
struct FreeOp {
  std::uintptr_t address = 0;
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

using Operation = std::variant<EmptyOp, KernelOp, TouchOp, CopyOp, FillOp, WriteOp, HostOp,
                               RecordOp, WaitOp, AllocOp, FreeOp, MapArrayOp, ChildOp>;

// Checks the ranges of a copy, fill or write against the allocations, then does the work.
// INVALID_VALUE: it touches device addresses that no allocation covers. ILLEGAL_ADDRESS: parts of
// an array that have no memory.
CUresult Execute(const Operation& operation);
CUgraphNodeType NodeTypeOf(const Operation& operation);

}  // namespace cuheap::sim
