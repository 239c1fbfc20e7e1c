#include "tests/sim/engine/sim_api.h"

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/latest_freed.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/module.h"
#include "tests/sim/engine/shutdown.h"

namespace cuheap::sim {
namespace {

bool IsKnown(int device, int kind) {
  return HasMachine() && IsDevice(device) && kind >= 0 && kind < CUHEAP_SIM_KINDS;
}

int KindOf(const Allocation& block) {
  switch (block.type) {
    case AllocationType::kLinear:
      return CUHEAP_SIM_LINEAR;
    case AllocationType::kMapping:
      return CUHEAP_SIM_VMM;
    case AllocationType::kPooled:
      return block.pool->imported ? CUHEAP_SIM_KINDS : CUHEAP_SIM_POOL;
    case AllocationType::kStatic:
      return CUHEAP_SIM_STATIC;
    case AllocationType::kGraph:
      return CUHEAP_SIM_GRAPH;
    case AllocationType::kArray:
      return CUHEAP_SIM_ARRAY;
    default:
      return CUHEAP_SIM_KINDS;
  }
}

struct Sum {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

Sum Live(int device, int kind) {
  Sum sum;
  if (!IsKnown(device, kind)) return sum;
  const EngineLock lock;
  for (const auto& [base, block] : AllAllocations()) {
    if (block.device != device || KindOf(block) != kind) continue;
    if (block.type == AllocationType::kGraph && !IsAllocated(base)) continue;
    sum.bytes += block.bytes;
    ++sum.blocks;
  }
  return sum;
}

}  // namespace
}  // namespace cuheap::sim

using namespace cuheap::sim;

uint64_t cuheap_sim_used(int device, int kind) {
  return IsKnown(device, kind) ? UsedBytes(device, static_cast<MemoryKind>(kind)) : 0;
}

uint64_t cuheap_sim_other_processes(int device) {
  if (!IsKnown(device, 0)) return 0;
  const EngineLock lock;
  std::uint64_t mine = 0;
  for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) mine += cuheap_sim_used(device, kind);
  return DeviceCapacity(device) - FreeBytes(device) - mine;
}

uint64_t cuheap_sim_live_bytes(int device, int kind) { return Live(device, kind).bytes; }
uint64_t cuheap_sim_live_blocks(int device, int kind) { return Live(device, kind).blocks; }
uint64_t cuheap_sim_contexts_created(void) { return ContextsCreated(); }
uint64_t cuheap_sim_contexts_created_on(int device) { return ContextsCreated(device); }
void cuheap_sim_shut_down(void) { ShutDown(); }

uint64_t cuheap_sim_pinned(void) {
  if (!HasMachine()) return 0;
  const EngineLock lock;
  std::uint64_t bytes = HostBytes();
  for (const auto& [base, block] : AllAllocations()) {
    if (block.type == AllocationType::kHost || block.type == AllocationType::kRegistered) {
      bytes += block.bytes;
    }
  }
  return bytes;
}

void cuheap_sim_reuse_latest_first(int on) {
  const EngineLock lock;
  SetLatestFirst(on != 0);
}

void cuheap_sim_limit_mappings(uint64_t more) {
  const EngineLock lock;
  LimitMappings(more);
}

int cuheap_sim_declare_managed(void* module_or_library, const char* name, size_t bytes) {
  Module* module = Modules().Find(module_or_library);
  return module != nullptr && DeclareManaged(module, name, bytes) ? 0 : 1;
}

int cuheap_sim_declare_global(void* module_or_library, const char* name, size_t bytes) {
  Module* module = Modules().Find(module_or_library);
  return module != nullptr && DeclareGlobal(module, name, bytes) ? 0 : 1;
}
