#include "tests/sim/engine/device_memory.h"

#include <sys/mman.h>

#include <vector>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/array_mapping.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
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

// Gives `block` memory of the process's own.
CUresult AddHostPages(Allocation block, std::uint64_t bytes, std::uintptr_t* out) {
  const EngineLock lock;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  block.base = reinterpret_cast<std::uintptr_t>(memory);
  block.bytes = bytes;
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

template <class Predicate>
bool AnyOverlaps(std::uintptr_t address, std::uint64_t bytes, Predicate predicate) {
  const Allocation* first = FindAllocation(address);
  if (first != nullptr && predicate(*first)) return true;
  for (auto it = AllAllocations().upper_bound(address);
       it != AllAllocations().end() && it->first - address < bytes; ++it) {
    if (predicate(it->second)) return true;
  }
  return false;
}

// Of memory that the process has pinned already, or that the driver gave it.
bool OverlapsHostMemory(std::uintptr_t address, std::uint64_t bytes) {
  return AnyOverlaps(address, bytes, [](const Allocation& block) {
    return block.type == AllocationType::kHost || block.type == AllocationType::kRegistered ||
           block.type == AllocationType::kManaged;
  });
}

bool OverlapsDeviceMemory(std::uintptr_t address, std::uint64_t bytes) {
  return IsDeviceAddress(address) || IsDeviceAddress(address + bytes - 1) ||
         AnyOverlaps(address, bytes, [](const Allocation&) { return true; });
}

// Whether the process has something there: the kernel says so without touching it.
bool IsMapped(std::uintptr_t address, std::uint64_t bytes) {
  constexpr std::uintptr_t kHostPage = 4096;
  const std::uintptr_t first = address / kHostPage * kHostPage;
  return msync(reinterpret_cast<void*>(first), address + bytes - first, MS_ASYNC) == 0;
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
      munmap(reinterpret_cast<void*>(base), block.bytes);
      return;
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
    if (block.context == context && block.type != AllocationType::kPooled &&
        block.type != AllocationType::kMapping) {
      bases.push_back(base);
    }
  }
  for (const std::uintptr_t base : bases) Discard(base);
}

CUresult AllocateManaged(Context* context, std::uint64_t bytes, unsigned flags,
                         std::uintptr_t* out) {
  if (bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Allocation block;
  block.type = AllocationType::kManaged;
  block.device = context->device;
  block.context = context;
  block.flags = flags;
  return AddHostPages(std::move(block), bytes, out);
}

CUresult AllocateManagedVariable(std::uint64_t bytes, std::uintptr_t* out) {
  Allocation block;
  block.type = AllocationType::kManaged;
  block.flags = CU_MEM_ATTACH_GLOBAL;
  block.declared = true;
  return AddHostPages(std::move(block), bytes, out);
}

CUresult AllocateHost(Context* context, std::uint64_t bytes, unsigned flags, void** out) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (bytes == 0 || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  Allocation block;
  block.type = AllocationType::kHost;
  block.device = context->device;
  block.context = context;
  block.flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;
  std::uintptr_t base = 0;
  const CUresult result = AddHostPages(std::move(block), bytes, &base);
  if (result == CUDA_SUCCESS) *out = reinterpret_cast<void*>(base);
  return result;
}

CUresult FreeHost(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = AllocationAt(address);
  if (block == nullptr || block->type != AllocationType::kHost) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Discard(address);
  return CUDA_SUCCESS;
}

CUresult RegisterHost(Context* context, std::uintptr_t address, std::uint64_t bytes,
                      unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                              CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  if (bytes == 0 || address == 0 || (flags & ~kKnown) != 0 || address + bytes < address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const EngineLock lock;
  if (OverlapsHostMemory(address, bytes)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  if (OverlapsDeviceMemory(address, bytes) || !IsMapped(address, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Allocation block;
  block.base = address;
  block.bytes = bytes;
  block.type = AllocationType::kRegistered;
  block.device = context->device;
  block.context = context;
  block.flags = flags;
  AddAllocation(std::move(block));
  return CUDA_SUCCESS;
}

CUresult UnregisterHost(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = AllocationAt(address);
  if (block == nullptr || block->type != AllocationType::kRegistered) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  Discard(address);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
