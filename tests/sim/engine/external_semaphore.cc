#include "tests/sim/engine/external_semaphore.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

constexpr std::size_t kMapped = sizeof(std::uint64_t);

HandlePool<ExternalSemaphore>& Semaphores() {
  static auto& pool = *new HandlePool<ExternalSemaphore>;
  return pool;
}

CUstreamBatchMemOpParams Write(CUdeviceptr address, std::uint64_t value) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operation.writeValue.address = address;
  operation.writeValue.value64 = value;
  return operation;
}

CUstreamBatchMemOpParams Wait(CUdeviceptr address, std::uint64_t value, unsigned condition) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = condition;
  return operation;
}

CUresult Begin(const CUexternalSemaphore* handles, unsigned count, bool waits,
               SemaphoreBatch* out) {
  out->waits = waits;
  out->handles.assign(handles, handles + count);
  for (const CUexternalSemaphore handle : out->handles) {
    const ExternalSemaphore* semaphore = FindSemaphore(handle);
    if (semaphore == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    out->values.push_back(semaphore->value);
  }
  return CUDA_SUCCESS;
}

}  // namespace

SharedValue::~SharedValue() { munmap(memory_, kMapped); }

CUresult ImportSemaphore(int file, bool is_timeline, ExternalSemaphore** out) {
  struct stat status {};
  const bool large = fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(kMapped);
  void* memory =
      large ? mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return CUDA_ERROR_INVALID_HANDLE;
  close(file);
  *out =
      Semaphores().New(ExternalSemaphore{std::make_shared<const SharedValue>(memory), is_timeline});
  return CUDA_SUCCESS;
}

ExternalSemaphore* FindSemaphore(CUexternalSemaphore handle) { return Semaphores().Find(handle); }

void DestroySemaphore(ExternalSemaphore* semaphore) { Semaphores().Delete(semaphore); }

CUresult SignalsOf(const CUexternalSemaphore* handles,
                   const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                   BatchOp* out) {
  auto batch = std::make_shared<SemaphoreBatch>();
  const CUresult begun = Begin(handles, count, false, batch.get());
  if (begun != CUDA_SUCCESS) return begun;
  batch->signals.assign(parameters, parameters + count);
  for (unsigned i = 0; i < count; ++i) {
    const bool timeline = FindSemaphore(handles[i])->is_timeline;
    out->list.push_back(
        Write(batch->values[i]->address(), timeline ? parameters[i].params.fence.value : 1));
  }
  out->semaphores = std::move(batch);
  return CUDA_SUCCESS;
}

CUresult WaitsOf(const CUexternalSemaphore* handles,
                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                 BatchOp* out) {
  auto batch = std::make_shared<SemaphoreBatch>();
  const CUresult begun = Begin(handles, count, true, batch.get());
  if (begun != CUDA_SUCCESS) return begun;
  batch->conditions.assign(parameters, parameters + count);
  for (unsigned i = 0; i < count; ++i) {
    const CUdeviceptr address = batch->values[i]->address();
    if (FindSemaphore(handles[i])->is_timeline) {
      out->list.push_back(
          Wait(address, parameters[i].params.fence.value, CU_STREAM_WAIT_VALUE_GEQ));
    } else {  // one wait for each signal
      out->list.push_back(Wait(address, 1, CU_STREAM_WAIT_VALUE_EQ));
      out->list.push_back(Write(address, 0));
    }
  }
  out->semaphores = std::move(batch);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
