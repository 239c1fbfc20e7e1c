#include "tests/sim/engine/host_memory.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/device_views.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

void* Pages(std::uint64_t bytes, int sharing) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
}

// Gives `block` memory of the process's own.
CUresult AddHostPages(Allocation block, std::uint64_t bytes, std::uintptr_t* out) {
  const EngineLock lock;
  void* memory = Pages(bytes, MAP_PRIVATE);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  block.base = reinterpret_cast<std::uintptr_t>(memory);
  block.bytes = bytes;
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

// The same with a device view. An old size of 0 makes mremap show shared memory a second time.
CUresult AddWriteCombined(Allocation block, std::uint64_t bytes, std::uintptr_t* out) {
  const EngineLock lock;
  void* memory = Pages(bytes, MAP_SHARED);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  void* view = mremap(memory, 0, bytes, MREMAP_MAYMOVE);
  if (view == MAP_FAILED) {
    munmap(memory, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  block.base = reinterpret_cast<std::uintptr_t>(memory);
  block.bytes = bytes;
  block.other_side = reinterpret_cast<std::uintptr_t>(view);
  Allocation seen = block;
  seen.type = AllocationType::kDeviceView;
  std::swap(seen.base, seen.other_side);
  AddDeviceView(block.other_side, bytes, block.base);
  *out = AddAllocation(std::move(block)).base;
  AddAllocation(std::move(seen));
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
           block.type == AllocationType::kManaged || block.type == AllocationType::kDeviceView;
  });
}

bool OverlapsDeviceMemory(std::uintptr_t address, std::uint64_t bytes) {
  return IsDeviceAddress(address) || IsDeviceAddress(address + bytes - 1) ||
         AnyOverlaps(address, bytes, [](const Allocation&) { return true; });
}

// Whether a part of what the process has there may not be written.
bool IsReadOnly(std::uintptr_t address, std::uint64_t bytes) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[512];
  bool read_only = false;
  while (!read_only && std::fgets(line, sizeof(line), maps) != nullptr) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char rights[5] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) != 3) continue;
    if (begin >= address + bytes) break;
    read_only = end > address && rights[1] != 'w';
  }
  std::fclose(maps);
  return read_only;
}

}  // namespace

bool IsMapped(std::uintptr_t address, std::uint64_t bytes) {
  constexpr std::uintptr_t kHostPage = 4096;
  const std::uintptr_t first = address / kHostPage * kHostPage;
  // The kernel rounds up, round the end of the address space too.
  if (bytes > ~std::uintptr_t{0} - kHostPage - first) return false;
  return msync(reinterpret_cast<void*>(first), address + bytes - first, MS_ASYNC) == 0;
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
  block.flags = flags;
  std::uintptr_t base = 0;
  const bool combined = (flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0;
  const CUresult result = combined ? AddWriteCombined(std::move(block), bytes, &base)
                                   : AddHostPages(std::move(block), bytes, &base);
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
  const bool writable = (flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0;
  if (OverlapsDeviceMemory(address, bytes) || !IsMapped(address, bytes) ||
      (writable && IsReadOnly(address, bytes))) {
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

std::uintptr_t DeviceAddressIn(const Allocation& block, std::uintptr_t address) {
  const bool elsewhere = block.type == AllocationType::kHost && block.other_side != 0;
  return elsewhere ? address - block.base + block.other_side : address;
}

std::uintptr_t HostAddressIn(const Allocation& block, std::uintptr_t address) {
  const bool elsewhere = block.type == AllocationType::kDeviceView;
  return elsewhere ? address - block.base + block.other_side : address;
}

void ReturnHostPages(const Allocation& block) {
  const bool has_view = block.type == AllocationType::kHost && block.other_side != 0;
  if (has_view) {
    RemoveDeviceView(block.other_side);
    Discard(block.other_side);
  }
  munmap(reinterpret_cast<void*>(block.base), block.bytes);
}

}  // namespace cuheap::sim
