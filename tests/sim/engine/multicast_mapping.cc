#include "tests/sim/engine/multicast_mapping.h"

#include <algorithm>

#include "tests/sim/engine/multicast_sharing.h"
#include "tests/sim/engine/virtual_memory.h"

namespace cuheap::sim {
namespace {

std::map<std::uintptr_t, MulticastHandle*>& Mappings() {
  static auto& map = *new std::map<std::uintptr_t, MulticastHandle*>;
  return map;
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

CUresult MapMulticast(std::uintptr_t base, std::uint64_t bytes, MulticastHandle* handle) {
  Follow(handle->object.get());
  const MulticastObject& object = *handle->object;
  const bool granular = base % kPageBytes == 0 && bytes % kPageBytes == 0;
  if (!granular || bytes == 0 || bytes > object.properties.size || !object.is_complete() ||
      !IsUnmapped(base, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Allocation mapping;
  mapping.base = base;
  mapping.bytes = bytes;
  mapping.type = AllocationType::kMulticast;
  mapping.device = object.members.begin()->first;
  AddAllocation(std::move(mapping));
  Mappings()[base] = handle;
  ++handle->mappings;
  return CUDA_SUCCESS;
}

bool IsMulticast(const Allocation& block) { return block.type == AllocationType::kMulticast; }

const MulticastObject& ObjectAt(const Allocation& mapping) {
  return *Mappings().at(mapping.base)->object;
}

bool HasMember(const Allocation& mapping, std::size_t device) {
  MulticastObject& object = *Mappings().at(mapping.base)->object;
  Follow(&object);
  return object.members.count(static_cast<int>(device)) != 0;
}

void EndMulticastMapping(std::uintptr_t base) {
  MulticastHandle* handle = Mappings().at(base);
  Mappings().erase(base);
  RemoveAllocation(base);
  --handle->mappings;
  DeleteIfUnused(handle);
}

CUmemGenericAllocationHandle RetainMulticast(const Allocation& mapping) {
  MulticastHandle* handle = Mappings().at(mapping.base);
  ++handle->references;
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

std::vector<std::uintptr_t> MulticastTargets(const std::vector<TouchedRange>& ranges) {
  const auto first = std::find_if(ranges.begin(), ranges.end(),
                                  [](const TouchedRange& range) { return range.writes; });
  const Allocation* block = first == ranges.end() ? nullptr : FindAllocation(first->base);
  if (block == nullptr || !IsMulticast(*block)) return {0};
  MulticastObject& object = *Mappings().at(block->base)->object;
  Follow(&object);
  const auto offset_of = [&](const TouchedRange& range) { return range.base - block->base; };
  std::vector<std::uintptr_t> distances;
  for (const auto& [device, member] : object.members) {
    const bool bound = std::all_of(first, ranges.end(), [&](const TouchedRange& range) {
      return IsBound(member, offset_of(range), range.bytes);
    });
    if (!bound) return {};
    distances.push_back(member.view + offset_of(*first) - first->base);
  }
  return distances;
}

}  // namespace cuheap::sim
