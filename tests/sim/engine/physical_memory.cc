#include "tests/sim/engine/physical_memory.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>

#include "tests/sim/engine/descriptor.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/latest_freed.h"

namespace cuheap::sim {
namespace {

int files[kTables];
thread_local constinit std::uint64_t taken_by_thread = 0;
std::uint64_t used_bytes[kTables][static_cast<int>(MemoryKind::kCount)];
std::uint64_t most_used[kTables][static_cast<int>(MemoryKind::kCount)];
std::uint64_t next_block_id = 1;
int local_holds[kMaxExports];  // how often this process holds each export

void Punch(int table, PageRun run) {
  PunchHole(files[table], run.first * kPageBytes, run.count * kPageBytes);
}

void SetOwner(PageTable& table, const std::vector<PageRun>& runs, std::uint16_t owner) {
  for (const PageRun& run : runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) table.owner[run.first + i] = owner;
  }
}

// The lowest run of `wanted` free pages; where there is none, all free pieces from below.
std::vector<PageRun> FindPages(const PageTable& table, std::uint32_t wanted) {
  std::vector<PageRun> pieces;
  std::uint32_t gathered = 0;
  PageRun piece;
  for (std::uint32_t page = 0; page < table.pages; ++page) {
    if (table.owner[page] != 0) {
      piece = PageRun{};
      continue;
    }
    if (piece.count == 0) piece.first = page;
    if (++piece.count == wanted) return {piece};
  }
  for (std::uint32_t page = 0; page < table.pages && gathered < wanted; ++page) {
    if (table.owner[page] != 0) continue;
    ++gathered;
    if (!pieces.empty() && pieces.back().first + pieces.back().count == page) {
      ++pieces.back().count;
    } else {
      pieces.push_back(PageRun{page, 1});
    }
  }
  return pieces;
}

LatestFreed latest_freed[kTables];

// None, unless the latest are to go first.
std::vector<PageRun> LatestPages(int index, std::uint32_t wanted) {
  const PageTable& table = TheControlBlock().tables[index];
  const auto first = latest_freed[index].Take(wanted, [&](std::uint64_t page) {
    const std::uint16_t* owner = table.owner + page;
    return std::all_of(owner, owner + wanted, [](std::uint16_t slot) { return slot == 0; });
  });
  if (!first) return {};
  return {PageRun{static_cast<std::uint32_t>(*first), wanted}};
}

void ReleaseExport(int index) {
  if (--local_holds[index] > 0) return;
  ExportEntry& entry = TheControlBlock().exports[index];
  entry.holders &= ~(1ULL << MySlot());
  if (entry.holders != 0) return;
  if (IsHeldByDescriptor(DescriptorKind::kMemory, index)) {
    ++TheControlBlock().left_to_descriptors;
    return;
  }
  PageTable& table = TheControlBlock().tables[entry.table];
  for (std::uint32_t i = 0; i < entry.run_count; ++i) {
    SetOwner(table, {entry.runs[i]}, 0);
    table.free_pages += entry.runs[i].count;
    Punch(entry.table, entry.runs[i]);
  }
  entry.serial = 0;
}

// The file of all memory of one kind; its holes cost nothing.
bool OpenFile(int table, const std::string& name) {
  const std::string path = TheSettings().shared + "." + name;
  files[table] = IsShared() ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)
                            : memfd_create(("cuheap-sim-" + name).c_str(), MFD_CLOEXEC);
  const auto size = static_cast<off_t>(TheControlBlock().tables[table].pages * kPageBytes);
  if (files[table] >= 0 && ftruncate(files[table], size) == 0) return true;
  std::fprintf(stderr, "cuheap-sim: memory of %s: %s\n", name.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

bool OpenPhysicalMemory() {
  for (int device = 0; device < TheSettings().devices; ++device)
    if (!OpenFile(device, "dev" + std::to_string(device))) return false;
  return OpenFile(kHostTable, "host");
}

int DeviceFile(int device) { return files[device]; }

std::uint64_t DeviceCapacity(int device) {
  return TheControlBlock().tables[TableOf(device)].pages * kPageBytes;
}

void PunchHole(int file, std::uint64_t offset, std::uint64_t bytes) {
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
}

PhysicalPtr AllocatePages(int device, std::uint64_t bytes, MemoryKind kind) {
  const EngineLock lock;
  const ControlLock control;
  PageTable& table = TheControlBlock().tables[TableOf(device)];
  const std::uint64_t wanted = bytes / kPageBytes;
  if (wanted > table.free_pages) Sweep(Punch);
  if (wanted > table.free_pages) return nullptr;
  std::vector<PageRun> runs = LatestPages(TableOf(device), static_cast<std::uint32_t>(wanted));
  if (runs.empty()) runs = FindPages(table, static_cast<std::uint32_t>(wanted));
  SetOwner(table, runs, static_cast<std::uint16_t>(MySlot() + 1));
  table.free_pages -= static_cast<std::uint32_t>(wanted);
  if (device != kHostDevice) taken_by_thread += bytes;
  return std::make_shared<PhysicalAllocation>(TableOf(device), kind, bytes, std::move(runs));
}

std::uint64_t BytesTakenByThread() { return taken_by_thread; }

PhysicalPtr ImportPages(int index, std::uint64_t serial) {
  const EngineLock lock;
  const ControlLock control;
  if (index < 0 || index >= kMaxExports) return nullptr;
  ExportEntry& entry = TheControlBlock().exports[index];
  if (serial == 0 || entry.serial != serial) return nullptr;
  auto pages = std::make_shared<PhysicalAllocation>(
      entry.table, MemoryKind::kVmm, entry.bytes,
      std::vector<PageRun>(entry.runs, entry.runs + entry.run_count));
  // The pages are charged to the process that made them.
  used_bytes[entry.table][static_cast<int>(MemoryKind::kVmm)] -= entry.bytes;
  pages->counted_ = false;
  pages->export_index_ = index;
  if (entry.holders == 0) --TheControlBlock().left_to_descriptors;
  entry.holders |= 1ULL << MySlot();
  ++local_holds[index];
  return pages;
}

std::uint64_t FreeBytes(int device) {
  const EngineLock lock;
  const ControlLock control;
  Sweep(Punch);
  return TheControlBlock().tables[device].free_pages * kPageBytes;
}

std::uint64_t UsedBytes(int device, MemoryKind kind) {
  const EngineLock lock;
  return used_bytes[device][static_cast<int>(kind)];
}

std::uint64_t MostUsedBytes(int device, MemoryKind kind) {
  const EngineLock lock;
  return most_used[device][static_cast<int>(kind)];
}

void ForgetMostUsed(int device, MemoryKind kind) {
  const EngineLock lock;
  most_used[device][static_cast<int>(kind)] = used_bytes[device][static_cast<int>(kind)];
}

std::uint64_t HostBytes() {
  const EngineLock lock;
  const auto& used = used_bytes[kHostTable];
  return std::accumulate(std::begin(used), std::end(used), std::uint64_t{0});
}

PhysicalAllocation::PhysicalAllocation(int table, MemoryKind kind, std::uint64_t bytes,
                                       std::vector<PageRun> runs)
    : table_(table),
      kind_(kind),
      bytes_(bytes),
      runs_(std::move(runs)),
      block_id_(next_block_id++),
      written_(table == kHostTable || (kind != MemoryKind::kLinear && kind != MemoryKind::kPool)) {
  std::uint64_t& used = used_bytes[table_][static_cast<int>(kind_)];
  std::uint64_t& most = most_used[table_][static_cast<int>(kind_)];
  used += bytes_;
  most = std::max(most, used);
}

int PhysicalAllocation::file() const { return files[table_]; }

PhysicalAllocation::~PhysicalAllocation() {
  const EngineLock lock;
  const ControlLock control;
  if (counted_) used_bytes[table_][static_cast<int>(kind_)] -= bytes_;
  if (export_index_ >= 0) {
    ReleaseExport(export_index_);
    return;
  }
  PageTable& table = TheControlBlock().tables[table_];
  if (written_) {
    for (const PageRun& run : runs_) Punch(table_, run);
  }
  SetOwner(table, runs_, 0);
  if (runs_.size() == 1) latest_freed[table_].Add(runs_[0].first, runs_[0].count);
  table.free_pages += static_cast<std::uint32_t>(bytes_ / kPageBytes);
}

int PhysicalAllocation::Export(const CUmemAllocationProp& properties) {
  const EngineLock lock;
  const ControlLock control;
  if (export_index_ >= 0) return export_index_;
  if (runs_.size() > kMaxExportRuns) return -1;
  MarkWritten();
  for (int index = 0; index < kMaxExports; ++index) {
    ExportEntry& entry = TheControlBlock().exports[index];
    if (entry.serial != 0) continue;
    entry.serial = TheControlBlock().next_serial++;
    entry.holders = 1ULL << MySlot();
    entry.table = table_;
    entry.bytes = bytes_;
    entry.properties = properties;
    entry.run_count = static_cast<std::uint32_t>(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) entry.runs[i] = runs_[i];
    SetOwner(TheControlBlock().tables[table_], runs_,
             static_cast<std::uint16_t>(kExportFlag | index));
    export_index_ = index;
    local_holds[index] = 1;
    return index;
  }
  return -1;
}

}  // namespace cuheap::sim
