#include "tests/sim/engine/ipc.h"

#include <unistd.h>

#include <cstring>

#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

struct Ticket {
  std::uint64_t identity;
  std::uint64_t serial;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::int32_t index;
  std::int32_t pid;
};
static_assert(sizeof(Ticket) <= sizeof(CUipcMemHandle));

}  // namespace

CUresult MakeIpcHandle(std::uintptr_t address, CUipcMemHandle* out) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  if (block == nullptr || block->type != AllocationType::kLinear) return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp properties{};
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, block->device};
  const int index = block->region.pages->Export(properties);
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const Ticket ticket{TheControlBlock().identity,
                      TheControlBlock().exports[index].serial,
                      block->base - block->region.base,
                      block->bytes,
                      index,
                      getpid()};
  std::memset(out, 0, sizeof(*out));
  std::memcpy(out, &ticket, sizeof(ticket));
  return CUDA_SUCCESS;
}

CUresult OpenIpcHandle(const CUipcMemHandle& handle, Context* context, std::uintptr_t* out) {
  const EngineLock lock;
  Ticket ticket{};
  std::memcpy(&ticket, &handle, sizeof(ticket));
  if (ticket.identity != TheControlBlock().identity) return CUDA_ERROR_INVALID_VALUE;
  if (ticket.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  PhysicalPtr pages = ImportPages(ticket.index, ticket.serial);
  if (pages == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto region = MapExisting(std::move(pages));
  if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  block.base = region->base + ticket.offset;
  block.bytes = ticket.bytes;
  block.type = AllocationType::kImported;
  block.device = region->pages->device();
  block.context = context;
  block.region = std::move(*region);
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

CUresult CloseIpcHandle(std::uintptr_t address) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  if (block == nullptr || block->base != address || block->type != AllocationType::kImported) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Discard(address);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
