// Physical memory: one sparse file a device, handed out in 2 MiB pages, and one more for host
// memory that is handled alike (kHostDevice; no device is charged for it). A page costs the host
// nothing until it is touched, and nothing again once it is freed (if it was written, its hole is
// punched). Contiguous pages are preferred, lowest first, so that neighbours in the file are
// neighbours in address space and share one kernel mapping.
//
// Limit: the kernel allows vm.max_map_count mappings a process (65530 by default). A device whose
// free pages alternate with used ones needs one mapping a piece; when the kernel refuses one, the
// call that needed it fails as out of memory.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/sim/engine/control_block.h"

namespace cuheap::sim {

// What a page is used for; the order is part of sim_api.h.
enum class MemoryKind { kContext, kLinear, kVmm, kPool, kStatic, kGraph, kArray, kCount };

// In the place of a device: the host.
inline constexpr int kHostDevice = CU_DEVICE_CPU;

inline int TableOf(int device) { return device == kHostDevice ? kHostTable : device; }

// Pages held by this process. The destructor gives them back (an export: this process's hold).
class PhysicalAllocation {
 public:
  // `table`: of the device, or kHostTable.
  PhysicalAllocation(int table, MemoryKind kind, std::uint64_t bytes, std::vector<PageRun> runs);
  ~PhysicalAllocation();
  PhysicalAllocation(const PhysicalAllocation&) = delete;
  PhysicalAllocation& operator=(const PhysicalAllocation&) = delete;

  int device() const { return table_ == kHostTable ? kHostDevice : table_; }
  std::uint64_t bytes() const { return bytes_; }
  // Where the runs lie.
  int file() const;
  const std::vector<PageRun>& runs() const { return runs_; }
  std::uint64_t block_id() const { return block_id_; }

  // Whether anybody may have written them: then their content goes when they do. Memory that only
  // operations can reach is written by operations (operation.cc); of all else it is assumed.
  bool written() const { return written_; }
  void MarkWritten() { written_ = true; }

  // Makes the pages an export, so that other processes may hold them. -1: the table is full.
  int Export(const CUmemAllocationProp& properties);
  int export_index() const { return export_index_; }  // -1: it is none

 private:
  friend std::shared_ptr<PhysicalAllocation> ImportPages(int index, std::uint64_t serial);

  int table_;
  MemoryKind kind_;
  std::uint64_t bytes_;
  std::vector<PageRun> runs_;
  std::uint64_t block_id_;
  int export_index_ = -1;
  bool counted_ = true;
  bool written_ = true;
};

using PhysicalPtr = std::shared_ptr<PhysicalAllocation>;

// Opens the device files. False, after saying why, when that is impossible.
bool OpenPhysicalMemory();
int DeviceFile(int device);
std::uint64_t DeviceCapacity(int device);

// `bytes` is a multiple of kPageBytes. Null: there are not so many free pages.
PhysicalPtr AllocatePages(int device, std::uint64_t bytes, MemoryKind kind);
// What AllocatePages gave to the calling thread since it began, whether freed since or not.
std::uint64_t BytesTakenByThread();
// A hold on what Export published. Null: no such export.
PhysicalPtr ImportPages(int index, std::uint64_t serial);
void PunchHole(int file, std::uint64_t offset, std::uint64_t bytes);

// Bytes in whole pages: free on the device, and used by this process for one kind.
std::uint64_t FreeBytes(int device);
std::uint64_t UsedBytes(int device, MemoryKind kind);
// The most that UsedBytes was since the last ForgetMostUsed.
std::uint64_t MostUsedBytes(int device, MemoryKind kind);
void ForgetMostUsed(int device, MemoryKind kind);
// Host memory that this process holds in whole pages.
std::uint64_t HostBytes();

}  // namespace cuheap::sim
