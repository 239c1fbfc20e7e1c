#include "tests/sim/engine/physical_handle.h"

#include "tests/sim/engine/descriptor.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

HandlePool<PhysicalHandle>& Handles() {
  static auto& pool = *new HandlePool<PhysicalHandle>;
  return pool;
}

void DeleteIfUnused(PhysicalHandle* handle) {
  if (handle->references == 0 && handle->mappings == 0) Handles().Delete(handle);
}

// The machine has one node of host memory, number 0.
CUresult CheckHostPlace(const CUmemAllocationProp& properties) {
  const bool numa = properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return numa && properties.location.id != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// Compression is a hint; what a flag would promise and the machine lacks is refused.
CUresult CheckFlags(const CUmemAllocationProp& properties) {
  constexpr unsigned kKnown = CU_MEM_CREATE_USAGE_TILE_POOL | CU_MEM_CREATE_USAGE_HW_DECOMPRESS;
  const auto& flags = properties.allocFlags;
  if (flags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC || flags.gpuDirectRDMACapable > 1 ||
      (flags.usage & ~kKnown) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool decompress = (flags.usage & CU_MEM_CREATE_USAGE_HW_DECOMPRESS) != 0;
  return flags.gpuDirectRDMACapable != 0 || decompress ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

}  // namespace

CUresult CheckHandleTypes(unsigned types) {
  constexpr unsigned kKnown = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                              CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  if ((types & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  return (types & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                                  : CUDA_SUCCESS;
}

CUresult PlaceOf(const CUmemAllocationProp& properties, int* device) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties.win32HandleMetaData != nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // What only a host location says of all types goes before what the machine lacks.
  const bool on_host = properties.location.type == CU_MEM_LOCATION_TYPE_HOST;
  if (on_host && properties.requestedHandleTypes != 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CheckHandleTypes(properties.requestedHandleTypes);
  if (result == CUDA_SUCCESS) result = CheckFlags(properties);
  if (result != CUDA_SUCCESS) return result;
  switch (properties.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      *device = properties.location.id;
      return IsDevice(*device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      *device = kHostDevice;
      return CheckHostPlace(properties);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult CreateHandle(std::uint64_t bytes, const CUmemAllocationProp& properties,
                      PhysicalHandle** out) {
  if (bytes == 0 || bytes % kPageBytes != 0) return CUDA_ERROR_INVALID_VALUE;
  int device = 0;
  const CUresult result = PlaceOf(properties, &device);
  if (result != CUDA_SUCCESS) return result;
  const EngineLock lock;
  PhysicalPtr pages = AllocatePages(device, bytes, MemoryKind::kVmm);
  if (pages == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = Handles().New();
  (*out)->pages = std::move(pages);
  (*out)->properties = properties;
  (*out)->properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
  return CUDA_SUCCESS;
}

CUresult ReleaseHandle(CUmemGenericAllocationHandle value) {
  const EngineLock lock;
  PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  --handle->references;
  DeleteIfUnused(handle);
  return CUDA_SUCCESS;
}

PhysicalHandle* FindHandle(CUmemGenericAllocationHandle value) {
  PhysicalHandle* handle = Handles().Find(reinterpret_cast<const void*>(value));
  return handle != nullptr && handle->references > 0 ? handle : nullptr;
}

CUmemGenericAllocationHandle ValueOf(PhysicalHandle* handle) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

void BeginMapping(PhysicalHandle* handle) { ++handle->mappings; }

void EndMapping(PhysicalHandle* handle) {
  --handle->mappings;
  DeleteIfUnused(handle);
}

CUresult ExportHandle(PhysicalHandle* handle, int* fd) {
  const EngineLock lock;
  const bool allowed =
      (handle->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
  if (!allowed) return CUDA_ERROR_INVALID_VALUE;
  const int index = handle->pages->Export(handle->properties);
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto serial = static_cast<std::uint32_t>(TheControlBlock().exports[index].serial);
  const int made = MakeDescriptor({DescriptorKind::kMemory, index, serial});
  if (made < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *fd = made;
  return CUDA_SUCCESS;
}

CUresult ImportHandle(int fd, PhysicalHandle** out) {
  DescriptorTicket ticket;
  if (!ReadDescriptor(fd, &ticket) || ticket.kind != DescriptorKind::kMemory) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  const ExportEntry& entry = TheControlBlock().exports[ticket.index];
  if (static_cast<std::uint32_t>(entry.serial) != ticket.serial) return CUDA_ERROR_INVALID_VALUE;
  PhysicalPtr pages = ImportPages(ticket.index, entry.serial);
  if (pages == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = Handles().New();
  (*out)->pages = std::move(pages);
  (*out)->properties = entry.properties;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
