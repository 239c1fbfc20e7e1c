#include "tests/sim/engine/multicast_mapping.h"

#include <algorithm>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/virtual_memory.h"

namespace cuheap::sim {
namespace {

struct Mapping {
  MulticastHandle* handle = nullptr;
  std::uint64_t offset = 0;  // in the object
};

std::map<std::uintptr_t, Mapping>& Mappings() {
  static auto& map = *new std::map<std::uintptr_t, Mapping>;
  return map;
}

// The whole mapping, or nothing.
Allocation* WholeMapping(std::uintptr_t base, std::uint64_t bytes) {
  Allocation* mapping = FindAllocation(base);
  const bool whole = mapping != nullptr && mapping->type == AllocationType::kMulticast &&
                     mapping->base == base && mapping->bytes == bytes;
  return whole ? mapping : nullptr;
}

bool IsBound(const MulticastMember& member, std::uint64_t offset, std::uint64_t bytes) {
  while (bytes > 0) {
    const auto after = member.bound.upper_bound(offset);
    if (after == member.bound.begin()) return false;
    const auto& [start, binding] = *std::prev(after);
    if (offset - start >= binding.bytes) return false;
    const std::uint64_t covered = binding.bytes - (offset - start);
    if (covered >= bytes) return true;
    offset += covered;
    bytes -= covered;
  }
  return true;
}

}  // namespace

CUresult MapMulticast(std::uintptr_t base, std::uint64_t bytes, std::uint64_t offset,
                      MulticastHandle* handle) {
  const MulticastObject& object = *handle->object;
  const std::uint64_t room = object.properties.size;
  const bool granular = base % kPageBytes == 0 && bytes % kPageBytes == 0;
  if (!granular || bytes == 0 || offset % kPageBytes != 0 || offset >= room ||
      bytes > room - offset || !object.is_complete() || !IsUnmapped(base, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Allocation mapping;
  mapping.base = base;
  mapping.bytes = bytes;
  mapping.type = AllocationType::kMulticast;
  mapping.device = object.members.begin()->first;
  AddAllocation(std::move(mapping));
  Mappings()[base] = {handle, offset};
  ++handle->mappings;
  return CUDA_SUCCESS;
}

bool IsMulticastMapping(std::uintptr_t address) {
  const Allocation* mapping = FindAllocation(address);
  return mapping != nullptr && mapping->type == AllocationType::kMulticast;
}

CUresult UnmapMulticast(std::uintptr_t base, std::uint64_t bytes) {
  if (WholeMapping(base, bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  MemoryEnds(base, bytes);
  RemoveAllocation(base);
  MulticastHandle* handle = Mappings().at(base).handle;
  Mappings().erase(base);
  --handle->mappings;
  DeleteIfUnused(handle);
  return CUDA_SUCCESS;
}

CUresult SetMulticastAccess(std::uintptr_t base, std::uint64_t bytes, const CUmemAccessDesc* access,
                            std::size_t count) {
  Allocation* mapping = WholeMapping(base, bytes);
  if (mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const MulticastObject& object = *Mappings().at(base).handle->object;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemLocation& location = access[i].location;
    const bool known = access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                       access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                       access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!known || location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        object.members.count(location.id) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    mapping->access[access[i].location.id] = static_cast<std::uint8_t>(access[i].flags);
  }
  return CUDA_SUCCESS;
}

CUresult GetMulticastAccess(std::uintptr_t address, const CUmemLocation& location,
                            unsigned long long* flags) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE || !IsDevice(location.id)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = FindAllocation(address)->access[location.id];
  return CUDA_SUCCESS;
}

CUmemGenericAllocationHandle RetainMulticast(std::uintptr_t address) {
  MulticastHandle* handle = Mappings().at(FindAllocation(address)->base).handle;
  ++handle->references;
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

std::vector<std::uintptr_t> MulticastTargets(const std::vector<TouchedRange>& ranges) {
  const auto first = std::find_if(ranges.begin(), ranges.end(),
                                  [](const TouchedRange& range) { return range.writes; });
  const Allocation* block = first == ranges.end() ? nullptr : FindAllocation(first->base);
  if (block == nullptr || block->type != AllocationType::kMulticast) return {0};
  const Mapping& mapping = Mappings().at(block->base);
  const auto offset_of = [&](const TouchedRange& range) {
    return range.base - block->base + mapping.offset;
  };
  std::vector<std::uintptr_t> distances;
  for (const auto& [device, member] : mapping.handle->object->members) {
    const bool bound = std::all_of(first, ranges.end(), [&](const TouchedRange& range) {
      return IsBound(member, offset_of(range), range.bytes);
    });
    if (!bound) return {};
    distances.push_back(member.view + offset_of(*first) - first->base);
  }
  return distances;
}

}  // namespace cuheap::sim
