#include "tests/sim/engine/virtual_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/multicast_mapping.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/race_checks.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kHostPage = 4096;

std::map<std::uintptr_t, std::uint64_t>& Reserved() {
  static auto& map = *new std::map<std::uintptr_t, std::uint64_t>;
  return map;
}

// The handle each mapping shows, so that the mapping can give it back.
std::map<std::uintptr_t, PhysicalHandle*>& Shown() {
  static auto& map = *new std::map<std::uintptr_t, PhysicalHandle*>;
  return map;
}

bool IsGranular(std::uint64_t value) { return value % kPageBytes == 0; }

bool InsideReservation(std::uintptr_t base, std::uint64_t bytes) {
  const Reservation around = ReservationOf(base);
  return around.bytes != 0 && bytes <= around.bytes - (base - around.base);
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
    const bool whole = mapping != nullptr && mapping->base == base && mapping->bytes <= bytes;
    if (!whole || (mapping->type != AllocationType::kMapping && !IsMulticast(*mapping))) return {};
    mappings.push_back(mapping);
    base += mapping->bytes;
    bytes -= mapping->bytes;
  }
  return mappings;
}

Access Widest(const Allocation& mapping) {
  if (IsMulticast(mapping)) return Access::kNone;  // the process reaches the members' memory only
  Access widest = Access::kNone;
  for (const std::uint8_t flags : mapping.access) {
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return Access::kReadWrite;
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READ) widest = Access::kRead;
  }
  return widest;
}

// The host reaches its own memory only; a node's rights are set for memory of a node only.
CUresult CheckAccess(const CUmemAccessDesc& access, const std::vector<Allocation*>& mappings) {
  std::size_t index = 0;
  if (const CUresult known = AccessIndex(access.location, &index); known != CUDA_SUCCESS) {
    return known;
  }
  if (!IsAccess(access.flags)) return CUDA_ERROR_INVALID_VALUE;
  for (const Allocation* mapping : mappings) {
    if (IsMulticast(*mapping)) {
      if (!HasMember(*mapping, index)) return CUDA_ERROR_INVALID_VALUE;
      continue;
    }
    if (index != kHostAccess) {
      const bool reached = access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                           ReachesDevice(static_cast<int>(index), mapping->device);
      if (!reached) return CUDA_ERROR_INVALID_DEVICE;
      continue;
    }
    const CUmemLocationType type = HandleOfMapping(*mapping)->properties.location.type;
    if (type == CU_MEM_LOCATION_TYPE_HOST_NUMA) continue;
    if (access.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

// Gives the process what `mappings` say. Where the kernel refuses, those before get back what
// `before` says.
bool Protect(const std::vector<Allocation*>& mappings, const std::vector<Access>& before) {
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Access wanted = Widest(*mappings[i]);
    if (wanted == before[i] || SetAccess(mappings[i]->base, mappings[i]->bytes, wanted)) continue;
    for (++i; i-- > 0;) RestoreAccess(mappings[i]->base, mappings[i]->bytes, before[i]);
    return false;
  }
  return true;
}

}  // namespace

CUresult ReserveRange(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint,
                      std::uintptr_t* out) {
  if (bytes == 0 || bytes % kHostPage != 0 || hint % kHostPage != 0 ||
      (alignment & (alignment - 1)) != 0) {
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

Reservation ReservationOf(std::uintptr_t address) {
  const EngineLock lock;
  const auto after = Reserved().upper_bound(address);
  if (after == Reserved().begin()) return {};
  const auto& [base, bytes] = *std::prev(after);
  return address - base < bytes ? Reservation{base, bytes} : Reservation{};
}

bool IsUnmapped(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  return InsideReservation(base, bytes) && IsFree(base, bytes);
}

CUresult MapHandle(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                   CUmemGenericAllocationHandle value) {
  if (bytes == 0 || !IsGranular(base) || !IsGranular(bytes) || offset != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  PhysicalHandle* handle = FindHandle(value);
  if (handle == nullptr || bytes > handle->pages->bytes()) return CUDA_ERROR_INVALID_VALUE;
  if (!IsUnmapped(base, bytes)) return CUDA_ERROR_INVALID_VALUE;
  Allocation mapping;
  mapping.base = base;
  mapping.bytes = bytes;
  mapping.type = AllocationType::kMapping;
  mapping.device = handle->pages->device();
  mapping.region = MappedRegion{base, bytes, handle->pages};
  if (!MapPages(mapping.region, offset, Access::kNone)) return CUDA_ERROR_OUT_OF_MEMORY;
  AddAllocation(std::move(mapping));
  Shown()[base] = handle;
  BeginMapping(handle);
  return CUDA_SUCCESS;
}

CUresult UnmapRange(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const std::vector<Allocation*> mappings = TilingMappings(base, bytes);
  if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (!UnmapPages(base, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  MemoryEnds(base, bytes);
  for (const Allocation* mapping : mappings) {
    const std::uintptr_t start = mapping->base;
    if (IsMulticast(*mapping)) {
      EndMulticastMapping(start);
      continue;
    }
    PhysicalHandle* handle = HandleOfMapping(*mapping);
    Shown().erase(start);
    RemoveAllocation(start);
    EndMapping(handle);
  }
  return CUDA_SUCCESS;
}

CUresult SetRangeAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  const EngineLock lock;
  const std::vector<Allocation*> mappings = TilingMappings(base, bytes);
  if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult allowed = CheckAccess(access[i], mappings);
    if (allowed != CUDA_SUCCESS) return allowed;
  }
  std::vector<Access> before;
  std::vector<Allocation> kept;
  for (Allocation* mapping : mappings) {
    before.push_back(Widest(*mapping));
    kept.push_back(*mapping);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t index = 0;
      if (AccessIndex(access[i].location, &index) != CUDA_SUCCESS) continue;
      mapping->access[index] = static_cast<std::uint8_t>(access[i].flags);
    }
  }
  if (Protect(mappings, before)) return CUDA_SUCCESS;
  for (std::size_t i = 0; i < mappings.size(); ++i) *mappings[i] = kept[i];
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult GetRangeAccess(std::uintptr_t address, const CUmemLocation& location,
                        unsigned long long* flags) {
  const EngineLock lock;
  std::size_t index = 0;
  if (const CUresult known = AccessIndex(location, &index); known != CUDA_SUCCESS) return known;
  const Allocation* block = FindAllocation(address);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = AccessOf(*block, index);
  return CUDA_SUCCESS;
}

PhysicalHandle* HandleOfMapping(const Allocation& mapping) { return Shown().at(mapping.base); }

CUresult RetainHandle(std::uintptr_t address, CUmemGenericAllocationHandle* out) {
  const EngineLock lock;
  const Allocation* mapping = FindAllocation(address);
  if (mapping != nullptr && IsMulticast(*mapping)) {
    *out = RetainMulticast(*mapping);
    return CUDA_SUCCESS;
  }
  if (mapping == nullptr || mapping->type != AllocationType::kMapping) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  PhysicalHandle* handle = HandleOfMapping(*mapping);
  ++handle->references;
  *out = ValueOf(handle);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
