#include "tests/sim/engine/graph_memory.h"

#include <algorithm>
#include <map>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/race_checks.h"

namespace cuheap::sim {
namespace {

struct Unfreed {
  std::shared_ptr<GraphMemory> memory;
  const Context* context = nullptr;
};

struct Device {
  std::vector<PhysicalPtr> spare;  // of nodes that are gone
  std::uint64_t mapped = 0;
  std::uint64_t most_mapped = 0;
};

struct State {
  std::map<std::uintptr_t, std::weak_ptr<GraphMemory>> all;
  std::map<std::uintptr_t, Unfreed> unfreed;
  Device devices[kTables];  // by table, the host's too
};

State& The() {
  static auto& state = *new State;
  return state;
}

// The list of allocations tells which pages are behind an address.
void ShowPages(const GraphMemory& memory) {
  if (Allocation* block = FindAllocation(memory.region.base)) block->region = memory.region;
}

PhysicalPtr TakeSpare(Device& device, std::uint64_t bytes) {
  const auto fit = std::find_if(device.spare.begin(), device.spare.end(),
                                [&](const PhysicalPtr& pages) { return pages->bytes() == bytes; });
  if (fit == device.spare.end()) return nullptr;
  PhysicalPtr pages = *fit;
  device.spare.erase(fit);
  return pages;
}

PhysicalPtr TakePages(int number, std::uint64_t bytes) {
  Device& device = The().devices[TableOf(number)];
  if (PhysicalPtr pages = TakeSpare(device, bytes)) return pages;
  if (PhysicalPtr pages = AllocatePages(number, bytes, MemoryKind::kGraph)) return pages;
  device.spare.clear();
  return AllocatePages(number, bytes, MemoryKind::kGraph);
}

PhysicalPtr Unmap(GraphMemory* memory) {
  PhysicalPtr pages = std::move(memory->region.pages);
  memory->region.pages = nullptr;
  UnmapPages(memory->region.base, memory->region.bytes);
  The().devices[TableOf(memory->device)].mapped -= memory->region.bytes;
  return pages;
}

void AddToTable(const GraphMemory& memory) {
  Allocation block;
  block.base = memory.region.base;
  block.bytes = memory.bytes;
  block.type = AllocationType::kGraph;
  block.device = memory.device;
  block.region = memory.region;
  AddAllocation(std::move(block));
}

// For the next graph, until a trim. Nobody trims the host, which has enough.
void KeepSpare(int device, PhysicalPtr pages) {
  if (device != kHostDevice) The().devices[device].spare.push_back(std::move(pages));
}

}  // namespace

GraphMemory::~GraphMemory() {
  if (region.base == 0) return;
  const EngineLock lock;
  The().all.erase(region.base);
  MemoryReturns(region.base, region.bytes);
  if (region.pages != nullptr) KeepSpare(device, Unmap(this));
  RemoveAllocation(region.base);
  ReturnAddresses(region.base, region.bytes);
}

CUresult NewGraphMemory(const CUmemLocation& place, std::uint64_t bytes,
                        std::shared_ptr<GraphMemory>* out) {
  const int device = place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : kHostDevice;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > DeviceCapacity(device)) return CUDA_ERROR_OUT_OF_MEMORY;
  const EngineLock lock;
  const std::uint64_t whole = InWholePages(bytes);
  const std::uintptr_t base = ReserveAddresses(whole, kPageBytes, 0);
  if (base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  auto memory = std::make_shared<GraphMemory>();
  memory->device = device;
  memory->bytes = bytes;
  memory->region = {base, whole, nullptr};
  memory->properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory->properties.location = place;
  AddToTable(*memory);
  The().all[base] = memory;
  *out = std::move(memory);
  return CUDA_SUCCESS;
}

std::shared_ptr<GraphMemory> GraphMemoryAt(std::uintptr_t base) {
  const EngineLock lock;
  const auto found = The().all.find(base);
  return found == The().all.end() ? nullptr : found->second.lock();
}

CUresult ProvidePages(GraphMemory* memory) {
  const EngineLock lock;
  if (memory->region.pages != nullptr) return CUDA_SUCCESS;
  MappedRegion region = memory->region;
  region.pages = TakePages(memory->device, region.bytes);
  if (region.pages == nullptr || !MapPages(region, 0, Access::kReadWrite)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory->region = std::move(region);
  ShowPages(*memory);
  Device& device = The().devices[TableOf(memory->device)];
  device.mapped += memory->region.bytes;
  device.most_mapped = std::max(device.most_mapped, device.mapped);
  return CUDA_SUCCESS;
}

void BeginAllocation(const std::shared_ptr<GraphMemory>& memory, const Context* context) {
  const EngineLock lock;
  memory->allocated = true;
  The().unfreed[memory->region.base] = {memory, context};
}

CUresult EndAllocation(std::uintptr_t base) {
  const EngineLock lock;
  const auto found = The().unfreed.find(base);
  if (found == The().unfreed.end()) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<GraphMemory> memory = std::move(found->second.memory);
  The().unfreed.erase(found);
  memory->allocated = false;
  return CUDA_SUCCESS;
}

bool IsAllocated(std::uintptr_t base) {
  const EngineLock lock;
  return The().unfreed.count(base) != 0;
}

CUresult BeginOnDevice(std::uintptr_t base) {
  const EngineLock lock;
  if (const auto memory = GraphMemoryAt(base)) memory->present = true;
  return CUDA_SUCCESS;
}

CUresult EndOnDevice(std::uintptr_t base) {
  const EngineLock lock;
  if (const auto memory = GraphMemoryAt(base)) memory->present = false;
  return CUDA_SUCCESS;
}

bool IsPresent(std::uintptr_t base) {
  const auto memory = GraphMemoryAt(base);
  return memory != nullptr && memory->present;
}

void TrimGraphMemory(int device) {
  const EngineLock lock;
  The().devices[device].spare.clear();
  std::vector<std::shared_ptr<GraphMemory>> held;  // one may end with the list
  for (const auto& [base, weak] : The().all) held.push_back(weak.lock());
  for (const std::shared_ptr<GraphMemory>& memory : held) {
    if (memory == nullptr || memory->device != device || memory->region.pages == nullptr) continue;
    if (memory->allocated || memory->launches != 0) continue;
    Unmap(memory.get());
    ShowPages(*memory);
  }
}

void EndGraphMemoryOf(const Context* context, int device) {
  const EngineLock lock;
  auto& unfreed = The().unfreed;
  for (auto at = unfreed.begin(); at != unfreed.end();) {
    const Unfreed entry = at->second;
    if (entry.context != context) {
      ++at;
      continue;
    }
    entry.memory->allocated = entry.memory->present = false;
    at = unfreed.erase(at);
  }
  TrimGraphMemory(device);
}

std::uint64_t MappedGraphBytes(int device) {
  const EngineLock lock;
  return The().devices[device].mapped;
}

std::uint64_t MostMappedGraphBytes(int device) {
  const EngineLock lock;
  return The().devices[device].most_mapped;
}

void ForgetMostMapped(int device) {
  const EngineLock lock;
  The().devices[device].most_mapped = The().devices[device].mapped;
}

}  // namespace cuheap::sim
