// Who owns each page of each device: the one truth of the machine's physical memory.
// Alone, it lives in private memory; with CUHEAP_SIM_SHARED it is the file PREFIX.control, mapped
// by all processes that name the prefix.
//
// Laws: 1. A page is free, owned by one process slot, or owned by one export.
//       2. free_pages equals the number of free pages.
//       3. An export lives while some live process or an open descriptor (descriptor.h) holds it;
//          a dead process owns nothing after the next Sweep, a closed descriptor neither. (Each
//          process keeps a record lock on the byte of its slot: the kernel drops it when the
//          process ends in any way.)
// Threads: everything needs a ControlLock, which needs the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/sim/engine/settings.h"

namespace cuheap::sim {

inline constexpr std::uint64_t kPageBytes = 2ULL << 20;
// REQUIRES: less than the largest number by a page.
constexpr std::uint64_t InWholePages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}
inline constexpr std::uint32_t kMaxPages = 1U << 19;  // 1 TiB
inline constexpr int kMaxProcesses = 64;
inline constexpr int kMaxExports = 1024;
inline constexpr int kMaxExportRuns = 128;
inline constexpr int kMaxSharedEvents = 1024;
inline constexpr int kMaxMulticasts = 64;
inline constexpr int kMaxSharedBindings = 256;  // of one object
inline constexpr std::uint16_t kExportFlag = 0x8000;
// Behind the tables of the devices: host memory of handles and pools, charged to no device.
inline constexpr int kHostTable = kMaxDevices;
inline constexpr int kTables = kMaxDevices + 1;

struct PageRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct PageTable {
  std::uint32_t pages;
  std::uint32_t free_pages;
  std::uint16_t owner[kMaxPages];  // 0 free, slot + 1, or kExportFlag | export index
};

struct ProcessSlot {
  std::int32_t pid;  // 0: unused
  std::int32_t unused;
};

// Physical memory that more than one process may hold.
struct ExportEntry {
  std::uint64_t serial;   // never repeats in one control block; 0: unused
  std::uint64_t holders;  // bit per process slot
  std::int32_t table;
  std::uint32_t run_count;
  std::uint64_t bytes;
  CUmemAllocationProp properties;
  PageRun runs[kMaxExportRuns];
};

// An event that more than one process may hold (shared_event.h).
struct SharedEventEntry {
  std::uint64_t serial;  // never repeats
  std::uint64_t
      holders;  // bit per process slot; none: unused. From here on atomics, without a lock
  std::uint64_t recorded;
  std::uint64_t reached;
  std::int32_t recorder_slot;
  std::int32_t recorder_pid;
};

// A piece of memory bound to a multicast object.
struct SharedBinding {
  std::uint64_t offset;  // in the object
  std::uint64_t bytes;
  std::uint64_t memory_offset;
  std::uint64_t serial;  // of the memory's export
  std::int32_t index;    // of the same
  std::int32_t device;
};

// A multicast object that more than one process may hold (multicast_sharing.h).
struct MulticastEntry {
  std::uint64_t serial;   // never repeats; 0: unused
  std::uint64_t holders;  // bit per process slot
  std::uint64_t changes;  // read and written as an atomic
  CUmulticastObjectProp properties;
  std::uint32_t members;  // bit per device
  std::uint32_t binding_count;
  SharedBinding bindings[kMaxSharedBindings];
};

struct ControlBlock {
  std::uint64_t magic;
  std::uint64_t identity;  // tells handles of other machines from ours
  std::uint64_t next_serial;
  std::uint32_t left_to_descriptors;  // exports without a holder that descriptors keep
  ProcessSlot processes[kMaxProcesses];
  ExportEntry exports[kMaxExports];
  SharedEventEntry events[kMaxSharedEvents];
  MulticastEntry multicasts[kMaxMulticasts];
  PageTable tables[kTables];
};

// Maps the block and takes a slot. False, after saying why on stderr, when that is impossible.
bool OpenControlBlock();
ControlBlock& TheControlBlock();
int MySlot();
// Whether the process that had this slot ended. Takes no lock.
bool IsProcessGone(int slot, int pid);
bool IsShared();

class ControlLock {
 public:
  ControlLock();
  ~ControlLock();
  ControlLock(const ControlLock&) = delete;
  ControlLock& operator=(const ControlLock&) = delete;
};

// REQUIRES: a ControlLock. Gives back what dead processes and closed descriptors held. `punch` is
// told of freed pages.
void Sweep(void (*punch)(int table, PageRun run));

}  // namespace cuheap::sim
