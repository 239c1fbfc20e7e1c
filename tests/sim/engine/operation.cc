#include "tests/sim/engine/operation.h"

#include <cstring>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/array_mapping.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/copy_bytes.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/external_semaphore.h"
#include "tests/sim/engine/graph_launch.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/match.h"
#include "tests/sim/engine/memory_operation.h"
#include "tests/sim/engine/multicast_mapping.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/program_code.h"
#include "tests/sim/engine/race_checks.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kPunchFrom = 1ULL << 20;

std::uint64_t WidthInBytes(const FillOp& fill) { return fill.width * fill.element; }

template <class Element>
void FillRow(std::uintptr_t to, std::uint32_t value, std::uint64_t count) {
  auto* out = reinterpret_cast<Element*>(to);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<Element>(value);
}

bool FillByPunching(const FillOp& fill) {
  const std::uint64_t bytes = WidthInBytes(fill);
  if (fill.value != 0 || fill.height != 1 || bytes < kPunchFrom) return false;
  // Mappings may follow each other; each begins with its pages.
  return WalkAllocations(fill.to, bytes,
                         [](const Allocation& block, std::uintptr_t at, std::uint64_t part) {
                           if (block.region.pages == nullptr) return false;
                           PunchZeroes(block.region, at, part);
                           return true;
                         });
}

void Fill(const FillOp& fill) {
  if (fill.width == 0 || FillByPunching(fill)) return;
  for (std::uint64_t y = 0; y < fill.height; ++y) {
    const std::uintptr_t row = fill.to + y * fill.pitch;
    if (fill.element == 1 || fill.value == 0) {
      std::memset(reinterpret_cast<void*>(row), static_cast<int>(fill.value & 0xFF),
                  WidthInBytes(fill));
    } else if (fill.element == 2) {
      FillRow<std::uint16_t>(row, fill.value, fill.width);
    } else {
      FillRow<std::uint32_t>(row, fill.value, fill.width);
    }
  }
}

// Does the work `distance` bytes behind where it says to write.
void DoAt(std::uintptr_t distance, const Operation& operation) {
  std::visit(Match{[&](CopyOp copy) {
                     copy.to += distance;
                     CopyBytes(copy);
                   },
                   [&](FillOp fill) {
                     fill.to += distance;
                     Fill(fill);
                   },
                   [](const auto&) {}},
             operation);
}

CUresult ExecuteOnMemory(const Operation& operation, const Context& context) {
  const EngineLock lock;
  const std::vector<TouchedRange> ranges = TouchedRanges(operation);
  const CUresult allowed = CheckRangesAtExecution(ranges);
  if (allowed != CUDA_SUCCESS) return allowed;
  const CUresult reached = CheckDeviceAccess(context, operation, ranges);
  if (reached != CUDA_SUCCESS) return reached;
  if (!IsResident(ranges)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  const std::vector<std::uintptr_t> targets = MulticastTargets(ranges);
  if (targets.empty()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  MarkWritten(ranges);
  for (const std::uintptr_t distance : targets) DoAt(distance, operation);
  const auto* kernel = std::get_if<TouchOp>(&operation);
  if (kernel != nullptr && kernel->body) kernel->body();
  return CUDA_SUCCESS;
}

// Where work is queued, the event has a ticket of the launch (graph_events.h).
CUresult MarkIfAlive(Event* event) {
  const EngineLock lock;
  if (!IsQueued() && Events().Find(event) == event) event->MarkReachedHere();
  return CUDA_SUCCESS;
}

CUgraphNodeType TypeOf(const BatchOp& batch) {
  if (batch.semaphores == nullptr) return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  return batch.semaphores->waits ? CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
                                 : CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
}

CUresult CallHost(const HostOp& host, const Context& context) {
  if (host.kind == HostCall::kEngine) {
    host.function(host.data);
  } else if (host.kind == HostCall::kCallback || context.broken == CUDA_SUCCESS) {
    CallProgram(host.function, host.data);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Execute(const Operation& operation, const Context& context) {
  return std::visit(Match{[&](const CopyOp&) { return ExecuteOnMemory(operation, context); },
                          [&](const FillOp&) { return ExecuteOnMemory(operation, context); },
                          [&](const TouchOp&) { return ExecuteOnMemory(operation, context); },
                          [&](const BatchOp& batch) { return ExecuteOne(batch, context); },
                          [&](const HostOp& host) { return CallHost(host, context); },
                          [](const RecordOp& record) { return MarkIfAlive(record.event); },
                          [](const AllocOp& op) { return BeginOnDevice(op.memory->region.base); },
                          [](const FreeOp& op) { return EndOnDevice(op.address); },
                          [](const MapArrayOp& map) { return MapArrayPieces(map); },
                          [](const SetConditionalOp& op) { return WriteNext(op.writes.get()); },
                          [](const LaunchOp& op) { return op.launch->Advance(); },
                          [](const auto&) { return CUDA_SUCCESS; }},
                    operation);
}

CUgraphNodeType NodeTypeOf(const Operation& operation) {
  return std::visit(Match{[](const EmptyOp&) { return CU_GRAPH_NODE_TYPE_EMPTY; },
                          [](const KernelOp&) { return CU_GRAPH_NODE_TYPE_KERNEL; },
                          [](const TouchOp&) { return CU_GRAPH_NODE_TYPE_KERNEL; },
                          [](const CopyOp&) { return CU_GRAPH_NODE_TYPE_MEMCPY; },
                          [](const FillOp&) { return CU_GRAPH_NODE_TYPE_MEMSET; },
                          [](const BatchOp& batch) { return TypeOf(batch); },
                          [](const HostOp&) { return CU_GRAPH_NODE_TYPE_HOST; },
                          [](const RecordOp&) { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; },
                          [](const WaitOp&) { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; },
                          [](const AllocOp&) { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; },
                          [](const FreeOp&) { return CU_GRAPH_NODE_TYPE_MEM_FREE; },
                          [](const MapArrayOp&) { return CU_GRAPH_NODE_TYPE_EMPTY; },
                          [](const ChildOp&) { return CU_GRAPH_NODE_TYPE_GRAPH; },
                          [](const LaunchOp&) { return CU_GRAPH_NODE_TYPE_GRAPH; },
                          [](const ConditionalOp&) { return CU_GRAPH_NODE_TYPE_CONDITIONAL; },
                          [](const SetConditionalOp&) { return CU_GRAPH_NODE_TYPE_KERNEL; }},
                    operation);
}

}  // namespace cuheap::sim
