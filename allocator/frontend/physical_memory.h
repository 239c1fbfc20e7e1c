// Physical memory of the virtual memory API: handles, and where they are mapped. Says which records
// of the ledger come and go, so that their sum is the physical memory: a handle that is mapped
// nowhere is a block at its handle, flagged kUnmapped; a mapped one is a block at its address, one
// only even if it is mapped twice. Imported memory belongs to another process and is a block of
// heap ipc while it is mapped.
//
// Pure bookkeeping: no ledger, no lock. The owner locks.
#pragma once

#include <cstdint>

#include "allocator/base/ids.h"
#include "allocator/frontend/word_map.h"
#include "allocator/ledger/format.h"

namespace cuheap {

class PhysicalMemory {
 public:
  // A record that came or went.
  struct Record {
    bool valid = false;
    format::Heap heap = format::Heap::k_vmm;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    DeviceId device{};
    bool unmapped = false;
  };
  struct Change {
    Record died;
    Record born;
  };

  constexpr PhysicalMemory() = default;

  // False when the handle cannot be kept: nothing will be known about it.
  bool Created(std::uint64_t handle, std::uint64_t bytes, DeviceId device);
  bool Imported(std::uint64_t handle, DeviceId device);
  void Retained(std::uint64_t handle);
  // One reference less. What dies: the record of a handle that is mapped nowhere.
  Change Released(std::uint64_t handle);
  Change Mapped(std::uint64_t handle, std::uint64_t address, std::uint64_t bytes);
  // The mapping that begins at the address goes. `bytes`: its length; 0 when there is none.
  Change Unmapped(std::uint64_t address, std::uint64_t* bytes);

  // The driver refused what was announced: all is as before. Returns the change that is to be
  // undone. Only the latest kRemembered ones are known.
  Change ReleaseFailed(std::uint64_t handle);
  Change UnmapFailed(std::uint64_t address, std::uint64_t* bytes);

  static constexpr std::uint32_t kRemembered = 1024;

 private:
  struct Handle {
    std::uint64_t bytes;
    std::uint64_t record;      // address of its record if mapped; 0 = mapped nowhere
    std::uint32_t references;  // the program's; 0 = lives by its mappings only
    std::uint32_t mappings;
    DeviceId device;
    bool imported;
  };
  struct Mapping {
    std::uint64_t handle;
    std::uint64_t bytes;
  };

  // What there was before the last Released (mapping.bytes is 0) and Unmapped calls.
  struct Before {
    std::uint64_t handle;
    Handle entry;
    std::uint64_t address;
    Mapping mapping;
    Change change;
  };

  void Remember(const Before& before);
  const Before* Recall(std::uint64_t handle, std::uint64_t address, bool mapping) const;
  void PutBack(const Before& before);

  static Record Free(std::uint64_t handle, const Handle& entry);
  static Record At(std::uint64_t address, const Handle& entry);

  // Handles of the driver may be 0-based counters in a simulation: keys are handle + 1.
  static std::uint64_t KeyOf(std::uint64_t handle) { return handle + 1; }

  WordMap<Handle> handles_{1u << 17};
  WordMap<Mapping> mappings_{1u << 17};
  Before remembered_[kRemembered]{};
  std::uint32_t next_ = 0;
};

}  // namespace cuheap
