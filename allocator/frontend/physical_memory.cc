#include "allocator/frontend/physical_memory.h"

namespace cuheap {

bool PhysicalMemory::Created(std::uint64_t handle, std::uint64_t bytes, DeviceId device) {
  Handle* entry = handles_.FindOrInsert(KeyOf(handle));
  if (entry == nullptr) return false;
  *entry = {.bytes = bytes,
            .record = 0,
            .references = 1,
            .mappings = 0,
            .device = device,
            .imported = false};
  return true;
}

bool PhysicalMemory::Imported(std::uint64_t handle, DeviceId device) {
  // A process may import what it exported itself: the same memory once more, under the same handle.
  if (handles_.Find(KeyOf(handle)) != nullptr) {
    Retained(handle);
    return true;
  }
  if (!Created(handle, 0, device)) return false;
  handles_.Find(KeyOf(handle))->imported = true;
  return true;
}

void PhysicalMemory::Retained(std::uint64_t handle) {
  if (Handle* entry = handles_.Find(KeyOf(handle)); entry != nullptr) ++entry->references;
}

PhysicalMemory::Change PhysicalMemory::Released(std::uint64_t handle) {
  Change change;
  Handle* entry = handles_.Find(KeyOf(handle));
  if (entry == nullptr || entry->references == 0) return change;
  const Handle before = *entry;
  if (--entry->references == 0 && entry->mappings == 0) {
    change.died = Free(handle, before);
    handles_.Erase(KeyOf(handle));
  }
  Remember({.handle = handle, .entry = before, .address = 0, .mapping = {}, .change = change});
  return change;
}

PhysicalMemory::Change PhysicalMemory::Mapped(std::uint64_t handle, std::uint64_t address,
                                              std::uint64_t bytes) {
  Change change;
  Handle* entry = handles_.Find(KeyOf(handle));
  if (entry == nullptr) return change;
  Mapping* mapping = mappings_.FindOrInsert(address);
  if (mapping == nullptr) return change;
  *mapping = {.handle = handle, .bytes = bytes};
  if (entry->imported) entry->bytes = bytes;
  if (++entry->mappings == 1) {
    if (!entry->imported) change.died = Free(handle, *entry);
    entry->record = address;
    change.born = At(address, *entry);
  }
  return change;
}

PhysicalMemory::Change PhysicalMemory::Unmapped(std::uint64_t address, std::uint64_t* bytes) {
  Change change;
  *bytes = 0;
  const Mapping* found = mappings_.Find(address);
  if (found == nullptr) return change;
  const Mapping mapping = *found;
  *bytes = mapping.bytes;
  mappings_.Erase(address);
  Handle* entry = handles_.Find(KeyOf(mapping.handle));
  if (entry == nullptr) return change;
  const Handle before = *entry;
  --entry->mappings;
  if (entry->record == address) {
    change.died = At(address, *entry);
    entry->record = 0;
    if (entry->mappings != 0) {
      mappings_.AnyOf([&](std::uint64_t other, const Mapping* candidate) {
        if (candidate->handle != mapping.handle) return false;
        entry->record = other;
        return true;
      });
      change.born = At(entry->record, *entry);
    } else if (entry->references != 0 && !entry->imported) {
      change.born = Free(mapping.handle, *entry);
    }
  }
  if (entry->mappings == 0 && entry->references == 0) handles_.Erase(KeyOf(mapping.handle));
  Remember({.handle = mapping.handle,
            .entry = before,
            .address = address,
            .mapping = mapping,
            .change = change});
  return change;
}

PhysicalMemory::Change PhysicalMemory::ReleaseFailed(std::uint64_t handle) {
  const Before* before = Recall(handle, 0, false);
  if (before == nullptr) return {};
  PutBack(*before);
  return before->change;
}

PhysicalMemory::Change PhysicalMemory::UnmapFailed(std::uint64_t address, std::uint64_t* bytes) {
  const Before* before = Recall(0, address, true);
  *bytes = before != nullptr ? before->mapping.bytes : 0;
  if (before == nullptr) return {};
  PutBack(*before);
  if (Mapping* mapping = mappings_.FindOrInsert(address); mapping != nullptr)
    *mapping = before->mapping;
  return before->change;
}

void PhysicalMemory::Remember(const Before& before) { remembered_[next_++ % kRemembered] = before; }

const PhysicalMemory::Before* PhysicalMemory::Recall(std::uint64_t handle, std::uint64_t address,
                                                     bool mapping) const {
  for (std::uint32_t back = 1; back <= kRemembered && back <= next_; ++back) {
    const Before& before = remembered_[(next_ - back) % kRemembered];
    if ((before.mapping.bytes != 0) != mapping) continue;
    if (mapping ? before.address == address : before.handle == handle) return &before;
  }
  return nullptr;
}

void PhysicalMemory::PutBack(const Before& before) {
  if (Handle* entry = handles_.FindOrInsert(KeyOf(before.handle)); entry != nullptr)
    *entry = before.entry;
}

PhysicalMemory::Record PhysicalMemory::Free(std::uint64_t handle, const Handle& entry) {
  if (entry.imported) return {};
  return {.valid = true,
          .heap = format::Heap::k_vmm,
          .address = handle,
          .bytes = entry.bytes,
          .device = entry.device,
          .unmapped = true};
}

PhysicalMemory::Record PhysicalMemory::At(std::uint64_t address, const Handle& entry) {
  return {.valid = true,
          .heap = entry.imported ? format::Heap::k_ipc : format::Heap::k_vmm,
          .address = address,
          .bytes = entry.bytes,
          .device = entry.device,
          .unmapped = false};
}

}  // namespace cuheap
