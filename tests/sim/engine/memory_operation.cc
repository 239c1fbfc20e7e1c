#include "tests/sim/engine/memory_operation.h"

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/managed_memory.h"
#include "tests/sim/engine/multicast_mapping.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

constexpr unsigned kConditionBits = 0x3;

unsigned BytesOf(CUstreamBatchMemOpType type) {
  switch (type) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return 4;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return 8;
    default:
      return 0;
  }
}

CUresult CheckFlags(const CUstreamBatchMemOpParams& operation, MemoryOperationAbi abi) {
  const bool old = abi == MemoryOperationAbi::kV1;
  if (IsWait(operation)) {
    const unsigned flags = operation.waitValue.flags;
    if ((flags & ~(kConditionBits | CU_STREAM_WAIT_VALUE_FLUSH)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const bool flush = (flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0;
    return flush ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
  }
  const unsigned known = old ? CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER : 0;
  return (operation.writeValue.flags & ~known) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CheckAddress(std::uintptr_t address, unsigned bytes) {
  if (address % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  const bool usable = block != nullptr && !IsManagedRange(address, bytes);
  return usable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <class Unsigned, class Signed>
bool Holds(Unsigned now, Unsigned value, unsigned flags) {
  switch (flags & kConditionBits) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<Signed>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<Unsigned>(~(now | value)) != 0;
  }
}

// Programs poll and change these values while streams do, so accesses are atomic.
template <class Unsigned>
Unsigned Load(std::uintptr_t address) {
  return __atomic_load_n(reinterpret_cast<const Unsigned*>(address), __ATOMIC_SEQ_CST);
}
template <class Unsigned>
void Store(std::uintptr_t address, Unsigned value) {
  __atomic_store_n(reinterpret_cast<Unsigned*>(address), value, __ATOMIC_SEQ_CST);
}

bool IsMet(const CUstreamBatchMemOpParams& operation) {
  const auto& wait = operation.waitValue;
  return BytesOf(operation.operation) == 4
             ? Holds<std::uint32_t, std::int32_t>(Load<std::uint32_t>(wait.address), wait.value,
                                                  wait.flags)
             : Holds<std::uint64_t, std::int64_t>(Load<std::uint64_t>(wait.address), wait.value64,
                                                  wait.flags);
}

void WriteValue(const CUstreamBatchMemOpParams& operation, std::uintptr_t to) {
  if (BytesOf(operation.operation) == 4) {
    Store<std::uint32_t>(to, operation.writeValue.value);
  } else {
    Store<std::uint64_t>(to, operation.writeValue.value64);
  }
}

}  // namespace

CUresult CheckMemoryOperation(const CUstreamBatchMemOpParams& operation, MemoryOperationAbi abi) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return operation.flushRemoteWrites.flags == 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                    : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_BARRIER:
      if (abi == MemoryOperationAbi::kV1) return CUDA_ERROR_NOT_SUPPORTED;
      return operation.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    default:
      break;
  }
  const unsigned bytes = BytesOf(operation.operation);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult flags = CheckFlags(operation, abi);
  return flags != CUDA_SUCCESS ? flags : CheckAddress(operation.waitValue.address, bytes);
}

bool MayChangeTo(const CUstreamBatchMemOpParams& old, const CUstreamBatchMemOpParams& fresh) {
  if (old.operation != fresh.operation) return false;
  if (old.operation == CU_STREAM_MEM_OP_BARRIER)
    return old.memoryBarrier.flags == fresh.memoryBarrier.flags;
  if (IsWait(old)) return ((old.waitValue.flags ^ fresh.waitValue.flags) & ~kConditionBits) == 0;
  return old.writeValue.flags == fresh.writeValue.flags;
}

CUresult ExecuteMemoryOperation(const CUstreamBatchMemOpParams& operation, const Context& context) {
  const TouchedRange range = RangeOf(operation);
  if (range.bytes == 0) return CUDA_SUCCESS;
  const EngineLock lock;
  const CUresult allowed = CheckRangesAtExecution({range});
  if (allowed != CUDA_SUCCESS) return allowed;
  const CUresult reached = CheckDeviceAccess(context, "memory operation", range);
  if (reached != CUDA_SUCCESS) return reached;
  if (IsWait(operation)) return IsMet(operation) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  const std::vector<std::uintptr_t> targets = MulticastTargets({range});
  if (targets.empty()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  MarkWritten({range});
  for (const std::uintptr_t distance : targets) WriteValue(operation, range.base + distance);
  return CUDA_SUCCESS;
}

CUresult ExecuteOne(const BatchOp& batch, const Context& context) {
  return ExecuteMemoryOperation(batch.list.front(), context);
}

TouchedRange RangeOf(const CUstreamBatchMemOpParams& operation) {
  const unsigned bytes = BytesOf(operation.operation);
  if (bytes == 0) return {};
  return {operation.waitValue.address, bytes, !IsWait(operation)};
}

bool IsWait(const CUstreamBatchMemOpParams& operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

}  // namespace cuheap::sim
