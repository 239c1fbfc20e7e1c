// An allocator for CUDAPluggableAllocator that forwards to the runtime and counts.
#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <atomic>

namespace {
std::atomic<int> allocations{0};
std::atomic<int> frees{0};
}  // namespace

extern "C" void* counting_allocate(ssize_t size, int device, cudaStream_t) {
  void* pointer = nullptr;
  if (cudaSetDevice(device) != cudaSuccess) return nullptr;
  if (cudaMalloc(&pointer, static_cast<size_t>(size)) != cudaSuccess) return nullptr;
  allocations.fetch_add(1);
  return pointer;
}

extern "C" void counting_free(void* pointer, ssize_t, int device, cudaStream_t) {
  if (cudaSetDevice(device) == cudaSuccess && cudaFree(pointer) == cudaSuccess) frees.fetch_add(1);
}

extern "C" int counting_allocations() { return allocations.load(); }
extern "C" int counting_frees() { return frees.load(); }
