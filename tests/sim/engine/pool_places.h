// Which pool serves a place: its default one, made when it is first asked for, or the one that was
// set. Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <compare>

namespace cuheap::sim {

struct MemoryPool;

struct PoolPlace {
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE;
  int id = 0;  // 0 where the location has none
  auto operator<=>(const PoolPlace&) const = default;
};

inline PoolPlace PlaceOfDevice(int device) {
  return {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, device};
}
// INVALID_DEVICE, or INVALID_VALUE for what no pool can have.
CUresult PoolPlaceOf(const CUmemLocation& location, CUmemAllocationType type, PoolPlace* out);
PoolPlace PlaceOf(const MemoryPool& pool);

MemoryPool* DefaultPool(const PoolPlace& place);
MemoryPool* CurrentPool(const PoolPlace& place);
bool IsDefaultPool(const MemoryPool* pool);
// REQUIRES: the pool's own place.
void SetCurrentPool(MemoryPool* pool);
void SetDefaultInsteadOf(const MemoryPool* pool);

}  // namespace cuheap::sim
