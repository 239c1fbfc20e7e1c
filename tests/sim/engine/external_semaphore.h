// Semaphores of other interfaces: any file of at least eight bytes that can be mapped. They hold
// the value of a timeline, or 1 where a semaphore of two states is signalled and 0 where it is not.
//
// Laws: 1. A descriptor is the driver's from a successful import on.
//       2. Signals and waits are writes of a value and waits for one (memory_operation.h), so that
//          they order work as those do.
//       3. The value stays mapped while queued work or a graph names it, whether or not the handle
//          was destroyed.
// Threads: any; no lock is needed.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

class SharedValue {
 public:
  explicit SharedValue(void* memory) : memory_(memory) {}
  ~SharedValue();
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(memory_); }

 private:
  void* memory_;
};

struct ExternalSemaphore {
  std::shared_ptr<const SharedValue> value;
  bool is_timeline = false;
};

// A batch as the interface describes it, where it is one of semaphores.
struct SemaphoreBatch {
  bool waits = false;
  std::vector<CUexternalSemaphore> handles;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> signals;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> conditions;
  std::vector<std::shared_ptr<const SharedValue>> values;
};

// INVALID_HANDLE: the file cannot be mapped.
CUresult ImportSemaphore(int file, bool is_timeline, ExternalSemaphore** out);
// nullptr: there is no such semaphore.
ExternalSemaphore* FindSemaphore(CUexternalSemaphore handle);
void DestroySemaphore(ExternalSemaphore* semaphore);

// INVALID_HANDLE: one is no semaphore.
CUresult SignalsOf(const CUexternalSemaphore* handles,
                   const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                   BatchOp* out);
CUresult WaitsOf(const CUexternalSemaphore* handles,
                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                 BatchOp* out);

}  // namespace cuheap::sim
