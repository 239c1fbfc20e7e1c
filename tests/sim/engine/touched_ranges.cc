#include "tests/sim/engine/touched_ranges.h"

#include <algorithm>
#include <iterator>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/copy_bytes.h"
#include "tests/sim/engine/device_views.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/host_memory.h"
#include "tests/sim/engine/match.h"
#include "tests/sim/engine/memory_operation.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

std::uint64_t Extent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch) {
  return width == 0 || height == 0 ? 0 : (height - 1) * pitch + width;
}

void Add(std::uintptr_t base, std::uint64_t bytes, bool writes, std::vector<TouchedRange>* to) {
  if (bytes != 0) to->push_back({base, bytes, writes});
}

bool HasAccess(const Allocation& mapping, bool writes) {
  return std::any_of(std::begin(mapping.access), std::end(mapping.access), [&](std::uint8_t flags) {
    return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
           (!writes && flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
  });
}

// No process has memory there.
bool IsNull(std::uintptr_t address) { return address < 4096; }

// The order in which memory is looked at: that of the calls, or that of the work.
enum class Order { kCalls, kWork };

bool HasMemory(const Allocation& block, Order order) {
  if (block.type != AllocationType::kGraph) return true;
  return order == Order::kCalls ? IsAllocated(block.base) : IsPresent(block.base);
}

// Mappings may follow each other, so a range is covered allocation by allocation.
bool IsAllowed(TouchedRange range, Order order) {
  while (range.bytes > 0) {
    const Allocation* block = FindAllocation(range.base);
    if (block == nullptr) {
      const bool of_host = !IsDeviceAddress(range.base) && !IsNull(range.base);
      return of_host && !range.driver_knows && IsMapped(range.base, range.bytes);
    }
    if (!HasMemory(*block, order)) return false;
    const bool multicast = block->type == AllocationType::kMulticast;
    if (multicast && !range.writes) return false;
    if ((multicast || block->type == AllocationType::kMapping) &&
        !HasAccess(*block, range.writes)) {
      return false;
    }
    const std::uint64_t covered = block->base + block->bytes - range.base;
    // What the application allocates beside a registered range is its own affair.
    if (covered >= range.bytes || block->type == AllocationType::kRegistered) return true;
    if (block->type != AllocationType::kMapping) return false;
    range.base += covered;
    range.bytes -= covered;
  }
  return true;
}

}  // namespace

std::vector<TouchedRange> TouchedRanges(const Operation& operation) {
  std::vector<TouchedRange> list;
  std::visit(Match{[&](const CopyOp& copy) { list = RangesOf(copy); },
                   [&](const FillOp& fill) {
                     Add(fill.to, Extent(fill.width * fill.element, fill.height, fill.pitch), true,
                         &list);
                     for (TouchedRange& range : list) range.driver_knows = true;
                   },
                   [&](const MapArrayOp& map) {
                     for (const std::uintptr_t tile : map.tiles) Add(tile, kTileBytes, true, &list);
                   },
                   [&](const BatchOp& batch) {
                     for (const auto& one : batch.list)
                       if (RangeOf(one).bytes != 0) list.push_back(RangeOf(one));
                   },
                   [&](const TouchOp& touch) { list = touch.ranges; }, [](const auto&) {}},
             operation);
  NameByHostAddress(&list);
  return list;
}

std::string NameOf(const Operation& operation) {
  return std::visit(Match{[](const CopyOp&) { return std::string("copy"); },
                          [](const FillOp&) { return std::string("set"); },
                          [](const BatchOp&) { return std::string("memory operation"); },
                          [](const TouchOp& touch) { return touch.name; },
                          [](const FreeOp&) { return std::string("free"); },
                          [](const AllocOp&) { return std::string("allocation"); },
                          [](const MapArrayOp&) { return std::string("mapping of an array"); },
                          [](const auto&) { return std::string("operation"); }},
                    operation);
}

CUresult CheckRangesAtSubmission(const std::vector<TouchedRange>& ranges) {
  const EngineLock lock;
  for (const TouchedRange& range : ranges)
    if (!IsAllowed(range, Order::kCalls)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult CheckRangesAtExecution(const std::vector<TouchedRange>& ranges) {
  const EngineLock lock;
  for (const TouchedRange& range : ranges) {
    const bool allowed = IsAllowed(range, Order::kWork) || (IsQueued() && IsPoolMemory(range.base));
    if (!allowed) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

void MarkWritten(const std::vector<TouchedRange>& ranges) {
  for (const TouchedRange& range : ranges) {
    if (!range.writes) continue;
    WalkAllocations(range.base, range.bytes, [](const Allocation& block, auto, auto) {
      if (block.region.pages != nullptr) block.region.pages->MarkWritten();
      return true;
    });
  }
}

}  // namespace cuheap::sim
