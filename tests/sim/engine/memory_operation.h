// The memory operations of streams: waits for a value in memory, writes of one, barriers.
//
// A barrier orders what is in order here anyway. What is not supported is what the device
// attributes deny: flushes of remote writes.
// Threads: any; the engine's lock is taken inside.
#pragma once

#include <cuda.h>

#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

// The operation of an entry point without a number (v1) knows one flag more, and no barriers.
enum class MemoryOperationAbi { kV1, kV2 };

// INVALID_VALUE: unknown operations or flags, an address that is not aligned, unknown to the driver
// or managed. NOT_SUPPORTED: the device has no such operation.
CUresult CheckMemoryOperation(const CUstreamBatchMemOpParams& operation, MemoryOperationAbi abi);
// What an executable graph may not change in an operation of a batch: the same otherwise.
bool MayChangeTo(const CUstreamBatchMemOpParams& old, const CUstreamBatchMemOpParams& fresh);

// NOT_READY: a wait whose value is not there. INVALID_VALUE: the memory is gone. ILLEGAL_ADDRESS:
// the context may not access it.
CUresult ExecuteMemoryOperation(const CUstreamBatchMemOpParams& operation, const Context& context);
// REQUIRES: the batch has one operation, as in a stream.
CUresult ExecuteOne(const BatchOp& batch, const Context& context);

// Memory that it reads or writes; no bytes: a barrier.
TouchedRange RangeOf(const CUstreamBatchMemOpParams& operation);
bool IsWait(const CUstreamBatchMemOpParams& operation);

}  // namespace cuheap::sim
