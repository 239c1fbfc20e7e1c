// Physical memory: what doors announce becomes records by the bookkeeping of physical_memory.h.
#include <mutex>

#include "allocator/frontend/frontend.h"

namespace cuheap {

void Frontend::PhysicalCreated(std::uint64_t handle, const SeenBlock& memory) {
  if (!EnterOrOpen()) return;
  {
    const std::lock_guard lock(physical_mutex_);
    if (!physical_.Created(handle, memory.block_bytes.count(), memory.device)) {
      if (format::DropCounters* dropped = ledger_.dropped(); dropped != nullptr)
        dropped->blocks.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  SeenBlock block = memory;
  block.address = Address(handle);
  block.heap = format::Heap::k_vmm;
  block.flags |= format::kUnmapped;
  BlockBorn(block);
}

void Frontend::PhysicalImported(std::uint64_t handle, DeviceId device) {
  if (!EnterOrOpen()) return;
  const std::lock_guard lock(physical_mutex_);
  physical_.Imported(handle, device);
}

void Frontend::PhysicalRetained(std::uint64_t handle) {
  if (!IsWatching()) return;
  const std::lock_guard lock(physical_mutex_);
  physical_.Retained(handle);
}

void Frontend::PhysicalReleased(std::uint64_t handle) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.Released(handle);
  }
  Apply(change, {});
}

void Frontend::PhysicalReleaseFailed(std::uint64_t handle) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.ReleaseFailed(handle);
  }
  TakeBack(change);
}

void Frontend::PhysicalMapped(std::uint64_t handle, const SeenBlock& mapping) {
  if (!IsWatching()) return;
  PhysicalMemory::Change change;
  {
    const std::lock_guard lock(physical_mutex_);
    change = physical_.Mapped(handle, Value(mapping.address), mapping.block_bytes.count());
  }
  Apply(change, mapping);
}

void Frontend::PhysicalUnmapped(std::uint64_t address, Bytes bytes) {
  if (!IsWatching()) return;
  // The driver unmaps whole mappings only, and any number of them.
  for (std::uint64_t at = address; at < address + bytes.count();) {
    PhysicalMemory::Change change;
    std::uint64_t length = 0;
    {
      const std::lock_guard lock(physical_mutex_);
      change = physical_.Unmapped(at, &length);
    }
    if (length == 0) return;
    Apply(change, {});
    at += length;
  }
}

void Frontend::PhysicalUnmapFailed(std::uint64_t address, Bytes bytes) {
  if (!IsWatching()) return;
  for (std::uint64_t at = address; at < address + bytes.count();) {
    PhysicalMemory::Change change;
    std::uint64_t length = 0;
    {
      const std::lock_guard lock(physical_mutex_);
      change = physical_.UnmapFailed(at, &length);
    }
    if (length == 0) return;
    TakeBack(change);
    at += length;
  }
}

void Frontend::Apply(const PhysicalMemory::Change& change, const SeenBlock& origin) {
  if (change.died.valid) Forget(change.died.heap, Address(change.died.address));
  if (!change.born.valid) return;
  SeenBlock block = origin;
  block.heap = change.born.heap;
  block.address = Address(change.born.address);
  block.block_bytes = block.requested_bytes = Bytes(change.born.bytes);
  block.device = change.born.device;
  if (change.born.unmapped) block.flags |= format::kUnmapped;
  BlockBorn(block);
}

void Frontend::TakeBack(const PhysicalMemory::Change& change) {
  if (change.born.valid) Forget(change.born.heap, Address(change.born.address));
  if (change.died.valid) BlockSurvived(change.died.heap, Address(change.died.address));
}

}  // namespace cuheap
