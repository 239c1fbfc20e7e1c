#include "tests/sim/engine/pool_sharing.h"

#include <cstring>

#include "tests/sim/engine/descriptor.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

struct BlockText {
  std::uint64_t identity;
  std::uint64_t pool;
  std::uint64_t serial;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::int32_t index;
};
static_assert(sizeof(BlockText) <= sizeof(CUmemPoolPtrExportData));

CUmemAllocationProp PropertiesOf(const MemoryPool& pool) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = pool.properties.location;
  return properties;
}

std::uint64_t NewIdentity() {
  const ControlLock control;
  return TheControlBlock().next_serial++;
}

}  // namespace

CUresult ExportPool(MemoryPool* pool, int* fd) {
  const EngineLock lock;
  const bool made_for_it =
      (pool->properties.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
  if (!made_for_it || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  if (pool->shared_id == 0) pool->shared_id = NewIdentity();
  const int made = MakeDescriptor(
      {DescriptorKind::kPool, TableOf(pool->device), static_cast<std::uint32_t>(pool->shared_id)});
  if (made < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *fd = made;
  return CUDA_SUCCESS;
}

CUresult ImportPool(int fd, MemoryPool** out) {
  DescriptorTicket ticket;
  if (!ReadDescriptor(fd, &ticket) || ticket.kind != DescriptorKind::kPool) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EngineLock lock;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (ticket.index == kHostTable) {
    properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
  } else {
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ticket.index};
  }
  MemoryPool* pool = nullptr;
  const CUresult result = NewPool(properties, &pool);
  if (result != CUDA_SUCCESS) return result;
  pool->shared_id = ticket.serial;
  pool->imported = true;
  *out = pool;
  return CUDA_SUCCESS;
}

CUresult ExportPoolBlock(std::uintptr_t address, CUmemPoolPtrExportData* out) {
  const EngineLock lock;
  const Allocation* block = AllocationAt(address);
  if (block == nullptr || block->type != AllocationType::kPooled) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (block->pool->imported || block->pool->shared_id == 0) return CUDA_ERROR_INVALID_VALUE;
  const int index = block->region.pages->Export(PropertiesOf(*block->pool));
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const BlockText text{TheControlBlock().identity,
                       static_cast<std::uint32_t>(block->pool->shared_id),
                       TheControlBlock().exports[index].serial,
                       block->base - block->region.base,
                       block->bytes,
                       index};
  std::memset(out, 0, sizeof(*out));
  std::memcpy(out, &text, sizeof(text));
  return CUDA_SUCCESS;
}

CUresult ImportPoolBlock(MemoryPool* pool, const CUmemPoolPtrExportData& data,
                         std::uintptr_t* out) {
  const EngineLock lock;
  BlockText text{};
  std::memcpy(&text, &data, sizeof(text));
  const bool ours = text.identity == TheControlBlock().identity && text.pool == pool->shared_id;
  if (!pool->imported || !ours) return CUDA_ERROR_INVALID_VALUE;
  PhysicalPtr pages = ImportPages(text.index, text.serial);
  if (pages == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto region = MapExisting(std::move(pages));
  if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  block.base = region->base + text.offset;
  block.bytes = text.bytes;
  block.type = AllocationType::kPooled;
  block.device = pool->device;
  block.pool = pool;
  block.region = std::move(*region);
  ++pool->live_blocks;
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
