// Whose memory copies and sets work on: what an update of an executable graph may not change.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

enum class PlaceKind { kPageable, kPinned, kManaged, kDevice };

struct MemoryPlace {
  PlaceKind kind = PlaceKind::kPageable;
  int device = 0;
  const Context* context = nullptr;  // null: of none, as mappings and memory of pools
  bool operator==(const MemoryPlace&) const = default;
};

// Both sides of a copy; a set has a target only. Else nothing.
struct MemoryPlaces {
  MemoryPlace to;
  MemoryPlace from;
  CUmemorytype to_type{};  // of a copy
  CUmemorytype from_type{};
  bool operator==(const MemoryPlaces&) const = default;
};

MemoryPlaces PlacesOf(const Operation& operation);

}  // namespace cuheap::sim
