#include "tests/sim/engine/device_memory.h"

#include <vector>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/array_mapping.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/host_memory.h"
#include "tests/sim/engine/managed_memory.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/segmented_heap.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kSmall = 1ULL << 20;

// Shared pages of small blocks, one heap for each device and use.
SegmentedHeap& SmallHeap(int device, MemoryKind kind) {
  static auto& heaps = *new std::map<std::pair<int, MemoryKind>, SegmentedHeap>;
  return heaps.try_emplace({device, kind}, device, kind, kPageBytes).first->second;
}

MemoryKind KindOf(const Allocation& block) {
  if (block.type == AllocationType::kStatic) return MemoryKind::kStatic;
  return block.type == AllocationType::kArray ? MemoryKind::kArray : MemoryKind::kLinear;
}

AllocationType TypeOf(MemoryKind kind) {
  if (kind == MemoryKind::kStatic) return AllocationType::kStatic;
  return kind == MemoryKind::kArray ? AllocationType::kArray : AllocationType::kLinear;
}

// Its address and pages stay with its node.
CUresult FreeGraphMemory(const Allocation& block) {
  const CUresult ended = EndAllocation(block.base);
  if (ended != CUDA_SUCCESS) return ended;
  MemoryEnds(block.base, block.bytes);
  return EndOnDevice(block.base);
}

}  // namespace

CUresult AllocateLinear(Context* context, std::uint64_t bytes, std::uintptr_t* out,
                        MemoryKind kind) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > DeviceCapacity(context->device)) return CUDA_ERROR_OUT_OF_MEMORY;
  const EngineLock lock;
  Allocation block;
  block.bytes = bytes;
  block.type = TypeOf(kind);
  block.device = context->device;
  block.context = context;
  if (bytes < kSmall) {
    SegmentedHeap& heap = SmallHeap(context->device, kind);
    const auto address = heap.Allocate(bytes);
    if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
    block.base = *address;
    block.region = heap.RegionOf(*address);
    block.held_bytes = bytes;
  } else {
    auto region = MapNewRegion(context->device, InWholePages(bytes), kind);
    if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
    block.base = region->base;
    block.region = std::move(*region);
  }
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

CUresult AllocateBelow4GiB(Context* context, std::uint64_t bytes, std::uintptr_t* out) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > DeviceCapacity(context->device)) return CUDA_ERROR_OUT_OF_MEMORY;
  const EngineLock lock;
  PhysicalPtr pages = AllocatePages(context->device, InWholePages(bytes), MemoryKind::kLinear);
  auto region = pages == nullptr ? std::nullopt : MapBelow4GiB(std::move(pages));
  if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  block.base = region->base;
  block.bytes = bytes;
  block.device = context->device;
  block.context = context;
  block.region = std::move(*region);
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

void Discard(std::uintptr_t base) {
  const Allocation block = AllAllocations().at(base);
  MemoryEnds(base, block.bytes);
  if (IsManaged(block)) ForgetAdvice(base, block.bytes);
  RemoveAllocation(base);
  switch (block.type) {
    case AllocationType::kLinear:
    case AllocationType::kStatic:
    case AllocationType::kArray:
      if (block.held_bytes == 0) return UnmapRegion(block.region);
      SmallHeap(block.device, KindOf(block)).Free(base, block.held_bytes);
      return SmallHeap(block.device, KindOf(block)).Trim(0);
    case AllocationType::kPooled:
      return ReturnToPool(block);
    case AllocationType::kManaged:
    case AllocationType::kHost:
    case AllocationType::kDeviceView:
      return ReturnHostPages(block);
    case AllocationType::kImported:
      return UnmapRegion(block.region);
    case AllocationType::kMapping:
      UnmapPages(base, block.bytes);
      return;
    case AllocationType::kArrayRange:
      ForgetPieces(base, block.bytes);
      return ReturnAddresses(base, block.bytes);
    case AllocationType::kExternal:
    case AllocationType::kExternalArray:
      return ReturnAddresses(block.region.base, block.region.bytes);
    case AllocationType::kMulticast:  // ends with cuMemUnmap, never with a context
    case AllocationType::kRegistered:
    case AllocationType::kGraph:  // its node owns the pages
      return;
  }
}

CUresult FreeDevice(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = AllocationAt(address);
  if (block == nullptr || block->declared) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (block->type) {
    case AllocationType::kExternal:
    case AllocationType::kLinear:
    case AllocationType::kManaged:
    case AllocationType::kPooled:
      Discard(address);
      return CUDA_SUCCESS;
    case AllocationType::kGraph:
      return FreeGraphMemory(*block);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void DiscardAllOf(const Context* context) {
  std::vector<std::uintptr_t> bases;
  for (const auto& [base, block] : AllAllocations()) {
    const bool goes_with_another = block.type == AllocationType::kPooled ||
                                   block.type == AllocationType::kMapping ||
                                   block.type == AllocationType::kDeviceView;
    if (block.context == context && !goes_with_another) bases.push_back(base);
  }
  for (const std::uintptr_t base : bases) Discard(base);
}

}  // namespace cuheap::sim
