// The C ABI of the core: one table of functions that translate plain numbers into the frontend's
// types and do nothing else.
#include <cuheap/core.h>

#include <cstring>

#include "allocator/api/core_life.h"
#include "allocator/base/environment.h"
#include "allocator/frontend/frontend.h"

namespace cuheap {
namespace {

SeenBlock BlockOf(const cuheap_block* block) {
  return {.address = Address(block->address),
          .block_bytes = Bytes(block->block_bytes),
          .requested_bytes = Bytes(block->requested_bytes),
          .stream = StreamHandle(block->stream),
          .device = DeviceId(block->device),
          .heap = static_cast<format::Heap>(block->heap),
          .flags = static_cast<std::uint8_t>(block->flags),
          .caller = block->caller};
}

SeenBlock BlockOf(const cuheap_mapping* memory) {
  return {.address = Address(memory->address),
          .block_bytes = Bytes(memory->bytes),
          .requested_bytes = Bytes(memory->bytes),
          .device = DeviceId(memory->device),
          .heap = format::Heap::k_vmm,
          .flags = static_cast<std::uint8_t>(memory->flags),
          .caller = memory->caller};
}

[[gnu::hot]] void BlockBorn(const cuheap_block* block) {
  ProcessFrontend().BlockBorn(BlockOf(block));
}

[[gnu::hot]] int BlockDied(uint32_t heap, uint64_t address) {
  return ProcessFrontend().BlockDied(static_cast<format::Heap>(heap), Address(address)) ? 1 : 0;
}

constexpr cuheap_core_v1_table kTable = {
    .table_bytes = sizeof(cuheap_core_v1_table),
    .version = CUHEAP_VERSION,
    .step = [] { ProcessFrontend().Step(); },
    .mark = [](const char* name) { ProcessFrontend().Mark(name != nullptr ? name : ""); },
    .block_born = BlockBorn,
    .block_died = BlockDied,
    .block_survived =
        [](uint32_t heap, uint64_t address) {
          ProcessFrontend().BlockSurvived(static_cast<format::Heap>(heap), Address(address));
        },
    .out_of_memory =
        [](uint32_t device, uint64_t requested) {
          ProcessFrontend().OutOfMemory(DeviceId(device), Bytes(requested));
        },
    .used_sample =
        [](uint32_t device, uint64_t used, uint64_t total) {
          ProcessFrontend().UsedSample(DeviceId(device), Bytes(used), Bytes(total));
        },
    .pool_sample =
        [](uint32_t device, uint64_t reserved, uint64_t used) {
          ProcessFrontend().PoolSample(DeviceId(device), Bytes(reserved), Bytes(used));
        },
    .device_identity =
        [](uint32_t device, const uint8_t uuid[16], const char* pci_bus_id) {
          ProcessFrontend().DeviceIdentity(DeviceId(device),
                                           std::span<const std::uint8_t, 16>(uuid, 16), pci_bus_id);
        },
    .safe_point = [] { ProcessFrontend().SafePoint(); },
    .count_call = [](uint32_t door) { ProcessFrontend().CountCall(static_cast<Door>(door)); },
    .watch = [](int on) { ProcessFrontend().Watch(on != 0); },
    .allocation_failed =
        [](const cuheap_block* request) { ProcessFrontend().AllocationFailed(BlockOf(request)); },
    .device_reset = [](uint32_t device) { ProcessFrontend().DeviceReset(DeviceId(device)); },
    .physical_created =
        [](const cuheap_mapping* memory) {
          ProcessFrontend().PhysicalCreated(memory->handle, BlockOf(memory));
        },
    .physical_imported =
        [](const cuheap_mapping* memory) {
          ProcessFrontend().PhysicalImported(memory->handle, DeviceId(memory->device));
        },
    .physical_retained = [](uint64_t handle) { ProcessFrontend().PhysicalRetained(handle); },
    .physical_released = [](uint64_t handle) { ProcessFrontend().PhysicalReleased(handle); },
    .physical_release_failed =
        [](uint64_t handle) { ProcessFrontend().PhysicalReleaseFailed(handle); },
    .physical_mapped =
        [](const cuheap_mapping* mapping) {
          ProcessFrontend().PhysicalMapped(mapping->handle, BlockOf(mapping));
        },
    .physical_unmapped =
        [](uint64_t address, uint64_t bytes) {
          ProcessFrontend().PhysicalUnmapped(address, Bytes(bytes));
        },
    .physical_unmap_failed =
        [](uint64_t address, uint64_t bytes) {
          ProcessFrontend().PhysicalUnmapFailed(address, Bytes(bytes));
        },
};

}  // namespace

void StartCore() { ProcessFrontend().Start(Environment()); }
void StopCore() { ProcessFrontend().Stop(); }

}  // namespace cuheap

extern "C" [[gnu::visibility("default")]] const cuheap_core_v1_table* cuheap_core_v1(void) {
  return &cuheap::kTable;
}
