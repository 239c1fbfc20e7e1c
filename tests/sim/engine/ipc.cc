#include "tests/sim/engine/ipc.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/peer_access.h"

namespace cuheap::sim {
namespace {

struct HandleText {
  std::uint64_t identity;
  std::uint64_t serial;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::int32_t index;
  std::int32_t pid;
  std::uint64_t buffer_id;  // addresses come back, this does not
};
static_assert(sizeof(HandleText) <= sizeof(CUipcMemHandle));

struct Opened {
  HandleText handle;
  int device = 0;  // the memory's
  const Context* context = nullptr;
  std::uintptr_t base = 0;
  std::uint64_t buffer_id = 0;
  int count = 1;
};

// Engine's lock. Memory that went with its context is forgotten at the next look.
std::vector<Opened>& AllOpened() {
  static auto& opened = *new std::vector<Opened>;
  std::erase_if(opened, [](const Opened& entry) {
    const Allocation* block = FindAllocation(entry.base);
    return block == nullptr || block->buffer_id != entry.buffer_id;
  });
  return opened;
}

bool SameMemory(const HandleText& one, const HandleText& other) {
  return one.serial == other.serial && one.buffer_id == other.buffer_id;
}

CUresult Open(const HandleText& handle, Context* context, std::uintptr_t* out) {
  PhysicalPtr pages = ImportPages(handle.index, handle.serial);
  if (pages == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const int device = pages->device();
  if (!ReachesDevice(context->device, device)) return CUDA_ERROR_MAP_FAILED;
  for (const Opened& entry : AllOpened()) {
    if (entry.handle.pid == handle.pid && entry.device == device && entry.context != context &&
        entry.context->device == context->device) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
  }
  auto region = MapExisting(std::move(pages));
  if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  block.base = region->base + handle.offset;
  block.bytes = handle.bytes;
  block.type = AllocationType::kImported;
  block.device = device;
  block.context = context;
  block.region = std::move(*region);
  const Allocation& added = AddAllocation(std::move(block));
  AllOpened().push_back({handle, device, context, added.base, added.buffer_id, 1});
  *out = added.base;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult MakeIpcHandle(std::uintptr_t address, CUipcMemHandle* out) {
  const EngineLock lock;
  const Allocation* block = AllocationAt(address);
  if (block == nullptr || block->type != AllocationType::kLinear) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp properties{};
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, block->device};
  const int index = block->region.pages->Export(properties);
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const HandleText text{TheControlBlock().identity,
                        TheControlBlock().exports[index].serial,
                        block->base - block->region.base,
                        block->bytes,
                        index,
                        getpid(),
                        block->buffer_id};
  std::memset(out, 0, sizeof(*out));
  std::memcpy(out, &text, sizeof(text));
  return CUDA_SUCCESS;
}

CUresult OpenIpcHandle(const CUipcMemHandle& handle, Context* context, std::uintptr_t* out) {
  const EngineLock lock;
  HandleText text{};
  std::memcpy(&text, &handle, sizeof(text));
  if (text.identity != TheControlBlock().identity) return CUDA_ERROR_INVALID_HANDLE;
  if (text.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  context = RootOf(context);
  for (Opened& entry : AllOpened()) {
    if (entry.context != context || !SameMemory(entry.handle, text)) continue;
    ++entry.count;
    *out = entry.base;
    return CUDA_SUCCESS;
  }
  return Open(text, context, out);
}

CUresult CloseIpcHandle(std::uintptr_t address) {
  const EngineLock lock;
  auto& opened = AllOpened();
  const auto entry = std::find_if(opened.begin(), opened.end(),
                                  [&](const Opened& other) { return other.base == address; });
  if (entry == opened.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--entry->count == 0) Discard(address);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
