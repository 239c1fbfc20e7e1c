#include "tests/sim/engine/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/race_checks.h"

namespace cuheap::sim {
namespace {

// What an exported descriptor says when read.
struct ExportTicket {
  std::uint64_t identity;
  std::uint64_t serial;
  std::int64_t index;
};

std::map<std::uintptr_t, std::uint64_t>& Reserved() {
  static auto& map = *new std::map<std::uintptr_t, std::uint64_t>;
  return map;
}

HandlePool<PhysicalHandle>& Handles() {
  static auto& pool = *new HandlePool<PhysicalHandle>;
  return pool;
}

// The handle each mapping shows, so that the mapping can give it back.
std::map<std::uintptr_t, PhysicalHandle*>& HandleOfMapping() {
  static auto& map = *new std::map<std::uintptr_t, PhysicalHandle*>;
  return map;
}

bool IsGranular(std::uint64_t value) { return value % kPageBytes == 0; }

bool InsideReservation(std::uintptr_t base, std::uint64_t bytes) {
  auto after = Reserved().upper_bound(base);
  if (after == Reserved().begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return base - start < size && bytes <= size - (base - start);
}

bool IsFree(std::uintptr_t base, std::uint64_t bytes) {
  const auto after = AllAllocations().lower_bound(base);
  if (after != AllAllocations().end() && after->first - base < bytes) return false;
  return FindAllocation(base) == nullptr;
}

// The mappings that tile [base, base + bytes) exactly; empty when they do not.
std::vector<Allocation*> TilingMappings(std::uintptr_t base, std::uint64_t bytes) {
  std::vector<Allocation*> mappings;
  while (bytes > 0) {
    Allocation* mapping = FindAllocation(base);
    if (mapping == nullptr || mapping->type != AllocationType::kMapping || mapping->base != base ||
        mapping->bytes > bytes) {
      return {};
    }
    mappings.push_back(mapping);
    base += mapping->bytes;
    bytes -= mapping->bytes;
  }
  return mappings;
}

Access Widest(const Allocation& mapping) {
  Access widest = Access::kNone;
  for (const std::uint8_t flags : mapping.access) {
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return Access::kReadWrite;
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READ) widest = Access::kRead;
  }
  return widest;
}

void Drop(PhysicalHandle* handle) {
  if (--handle->references == 0) Handles().Delete(handle);
}

CUmemGenericAllocationHandle ValueOf(PhysicalHandle* handle) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

}  // namespace

CUresult ReserveRange(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint,
                      std::uintptr_t* out) {
  if (bytes == 0 || !IsGranular(bytes) || (alignment & (alignment - 1)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  const std::uintptr_t base = ReserveAddresses(bytes, std::max(alignment, kPageBytes), hint);
  if (base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Reserved()[base] = bytes;
  *out = base;
  return CUDA_SUCCESS;
}

CUresult FreeRange(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const auto found = Reserved().find(base);
  if (found == Reserved().end() || found->second != bytes || !IsFree(base, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Reserved().erase(found);
  ReturnAddresses(base, bytes);
  return CUDA_SUCCESS;
}

CUresult CreateHandle(std::uint64_t bytes, const CUmemAllocationProp& properties,
                      PhysicalHandle** out) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED || bytes == 0 || !IsGranular(bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  if ((properties.requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const int device = properties.location.id;
  if (device < 0 || device >= TheSettings().devices) return CUDA_ERROR_INVALID_DEVICE;
  const EngineLock lock;
  PhysicalPtr pages = AllocatePages(device, bytes, MemoryKind::kVmm);
  if (pages == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = Handles().New();
  (*out)->pages = std::move(pages);
  (*out)->properties = properties;
  return CUDA_SUCCESS;
}

CUresult ReleaseHandle(CUmemGenericAllocationHandle value) {
  const EngineLock lock;
  PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Drop(handle);
  return CUDA_SUCCESS;
}

PhysicalHandle* FindHandle(CUmemGenericAllocationHandle handle) {
  return Handles().Find(reinterpret_cast<const void*>(handle));
}

CUresult RetainHandle(std::uintptr_t address, CUmemGenericAllocationHandle* out) {
  const EngineLock lock;
  const Allocation* mapping = FindAllocation(address);
  if (mapping == nullptr || mapping->type != AllocationType::kMapping) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  PhysicalHandle* handle = HandleOfMapping().at(mapping->base);
  ++handle->references;
  *out = ValueOf(handle);
  return CUDA_SUCCESS;
}

CUresult MapHandle(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                   PhysicalHandle* handle) {
  if (bytes == 0 || !IsGranular(base) || !IsGranular(bytes) || !IsGranular(offset)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  const std::uint64_t available = handle->pages->bytes();
  if (offset >= available || bytes > available - offset) return CUDA_ERROR_INVALID_VALUE;
  if (!InsideReservation(base, bytes) || !IsFree(base, bytes)) return CUDA_ERROR_INVALID_VALUE;
  Allocation mapping;
  mapping.base = base;
  mapping.bytes = bytes;
  mapping.type = AllocationType::kMapping;
  mapping.device = handle->pages->device();
  mapping.region = MappedRegion{base, bytes, handle->pages};
  mapping.mapped_offset = offset;
  if (!MapPages(mapping.region, offset, Access::kNone)) return CUDA_ERROR_OUT_OF_MEMORY;
  AddAllocation(std::move(mapping));
  HandleOfMapping()[base] = handle;
  ++handle->references;
  return CUDA_SUCCESS;
}

CUresult UnmapRange(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const std::vector<Allocation*> mappings = TilingMappings(base, bytes);
  if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
  MemoryEnds(base, bytes);
  UnmapPages(base, bytes);
  for (const Allocation* mapping : mappings) {
    const std::uintptr_t start = mapping->base;
    PhysicalHandle* handle = HandleOfMapping().at(start);
    HandleOfMapping().erase(start);
    RemoveAllocation(start);
    Drop(handle);
  }
  return CUDA_SUCCESS;
}

CUresult SetRangeAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  const EngineLock lock;
  const std::vector<Allocation*> mappings = TilingMappings(base, bytes);
  if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemLocation& location = access[i].location;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE || location.id < 0 ||
        location.id >= TheSettings().devices) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (Allocation* mapping : mappings) {
      mapping->access[location.id] = static_cast<std::uint8_t>(access[i].flags);
    }
  }
  for (const Allocation* mapping : mappings) {
    if (!SetAccess(mapping->base, mapping->bytes, Widest(*mapping))) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  return CUDA_SUCCESS;
}

CUresult GetRangeAccess(std::uintptr_t address, const CUmemLocation& location,
                        unsigned long long* flags) {
  const EngineLock lock;
  const Allocation* mapping = FindAllocation(address);
  if (mapping == nullptr || location.type != CU_MEM_LOCATION_TYPE_DEVICE || location.id < 0 ||
      location.id >= TheSettings().devices) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (mapping->type == AllocationType::kMapping) {
    *flags = mapping->access[location.id];
  } else {
    *flags = mapping->device == location.id ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                            : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  }
  return CUDA_SUCCESS;
}

CUresult ExportHandle(PhysicalHandle* handle, int* fd) {
  const EngineLock lock;
  const bool allowed =
      (handle->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
  if (!allowed) return CUDA_ERROR_INVALID_VALUE;
  const int index = handle->pages->Export(handle->properties);
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const ExportTicket ticket{TheControlBlock().identity, TheControlBlock().exports[index].serial,
                            index};
  const int made = memfd_create("cuheap-sim-handle", MFD_CLOEXEC);
  if (made < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pwrite(made, &ticket, sizeof(ticket), 0) != sizeof(ticket)) {
    close(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *fd = made;
  return CUDA_SUCCESS;
}

CUresult ImportHandle(int fd, PhysicalHandle** out) {
  ExportTicket ticket{};
  if (pread(fd, &ticket, sizeof(ticket), 0) != sizeof(ticket)) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  if (ticket.identity != TheControlBlock().identity) return CUDA_ERROR_INVALID_VALUE;
  const int index = static_cast<int>(ticket.index);
  PhysicalPtr pages = ImportPages(index, ticket.serial);
  if (pages == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = Handles().New();
  (*out)->pages = std::move(pages);
  (*out)->properties = TheControlBlock().exports[index].properties;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
