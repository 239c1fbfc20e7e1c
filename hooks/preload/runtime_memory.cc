// The runtime door: memory of libcudart's callers. An allocation is told after it exists, a free
// before the real one: once that returns, another thread may own the address.
#include "hooks/preload/call.h"
#include "hooks/preload/doors.h"
#include "hooks/preload/figures.h"

namespace cuheap::preload {
namespace {

constexpr std::uint32_t kNoFigures = ~0u;  // a heap that is no part of the device's used memory

std::uint32_t FiguresOf(std::uint32_t heap) {
  return heap == CUHEAP_HEAP_DRIVER || heap == CUHEAP_HEAP_ASYNC ? heap : kNoFigures;
}

std::uint64_t AddressOf(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

std::uint32_t Ordinal(int device) { return device < 0 ? 0 : static_cast<std::uint32_t>(device); }

struct Request {
  std::uint32_t heap;
  const void* caller;
  std::uint64_t requested;
  cudaStream_t stream = nullptr;
};

// The outermost call of this thread: the only one that is told.
bool Told() {
  if (inside) return false;
  Core().count_call(CUHEAP_DOOR_RUNTIME);
  return true;
}

cuheap_block BlockOf(const Request& request) {
  cuheap_block block = {};
  block.requested_bytes = request.requested;
  block.stream = AddressOf(request.stream);
  block.heap = request.heap;
  block.flags = CaptureFlag();
  block.caller = request.caller;
  return block;
}

void Born(const Request& request, const void* address, std::uint64_t bytes) {
  FindDriverFigures();
  const int device = request.heap == CUHEAP_HEAP_ASYNC ? DeviceOf(address) : CurrentDevice();
  cuheap_block block = BlockOf(request);
  block.address = AddressOf(address);
  block.block_bytes = bytes;
  block.device = Ordinal(device);
  Core().block_born(&block);
  if (FiguresOf(request.heap) != kNoFigures)
    MemoryChanged(device, request.heap == CUHEAP_HEAP_ASYNC);
}

void Failed(const Request& request) {
  cuheap_block block = BlockOf(request);
  block.device = Ordinal(CurrentDevice());
  Core().allocation_failed(&block);
}

// What every allocation has in common once the real one has answered.
cudaError_t Allocated(cudaError_t result, const Request& request, void* const* address,
                      std::uint64_t bytes) {
  if (result == cudaSuccess) {
    if (address != nullptr && *address != nullptr) Born(request, *address, bytes);
  } else if (result == cudaErrorMemoryAllocation) {
    Failed(request);
  }
  CatchUp();
  return result;
}

template <Name name, typename... Arguments>
cudaError_t Allocate(const Request& request, void** address, Arguments... arguments) {
  const bool told = Told();
  const cudaError_t result = Forward<name>(request.caller, address, arguments...);
  return told ? Allocated(result, request, address, request.requested) : result;
}

template <Name name, typename... Arguments>
cudaError_t Free(std::uint32_t heap, const void* caller, void* address, Arguments... arguments) {
  const bool told = address != nullptr && Told();
  const bool known = told && Core().block_died(heap, AddressOf(address)) != 0;
  const int device = told && FiguresOf(heap) != kNoFigures ? DeviceOf(address) : -1;
  const cudaError_t result = Forward<name>(caller, address, arguments...);
  if (known && result != cudaSuccess) Core().block_survived(heap, AddressOf(address));
  if (told) {
    if (device >= 0 && result == cudaSuccess) MemoryChanged(device, heap == CUHEAP_HEAP_ASYNC);
    CatchUp();
  }
  return result;
}

}  // namespace
}  // namespace cuheap::preload

using namespace cuheap::preload;

CUHEAP_DOOR cudaError_t cudaMalloc(void** address, size_t bytes) {
  return Allocate<Name::cudaMalloc>({CUHEAP_HEAP_DRIVER, CUHEAP_CALLER, bytes}, address, bytes);
}

CUHEAP_DOOR cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  return Allocate<Name::cudaMallocManaged>({CUHEAP_HEAP_MANAGED, CUHEAP_CALLER, bytes}, address,
                                           bytes, flags);
}

CUHEAP_DOOR cudaError_t cudaMallocHost(void** address, size_t bytes) {
  return Allocate<Name::cudaMallocHost>({CUHEAP_HEAP_PINNED, CUHEAP_CALLER, bytes}, address, bytes);
}

CUHEAP_DOOR cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return Allocate<Name::cudaHostAlloc>({CUHEAP_HEAP_PINNED, CUHEAP_CALLER, bytes}, address, bytes,
                                       flags);
}

CUHEAP_DOOR cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  const void* caller = CUHEAP_CALLER;
  const bool told = Told();
  const cudaError_t result = Forward<Name::cudaHostRegister>(caller, address, bytes, flags);
  return told ? Allocated(result, {CUHEAP_HEAP_PINNED, caller, bytes}, &address, bytes) : result;
}

CUHEAP_DOOR cudaError_t cudaMallocPitch(void** address, size_t* pitch, size_t width,
                                        size_t height) {
  const Request request = {CUHEAP_HEAP_DRIVER, CUHEAP_CALLER, width * height};
  const bool told = Told();
  const cudaError_t result =
      Forward<Name::cudaMallocPitch>(request.caller, address, pitch, width, height);
  const std::uint64_t bytes = result == cudaSuccess && pitch != nullptr ? *pitch * height : 0;
  return told ? Allocated(result, request, address, bytes) : result;
}

CUHEAP_DOOR cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  const Request request = {CUHEAP_HEAP_DRIVER, CUHEAP_CALLER,
                           extent.width * extent.height * extent.depth};
  const bool told = Told();
  const cudaError_t result = Forward<Name::cudaMalloc3D>(request.caller, pitched, extent);
  if (!told) return result;
  const bool written = result == cudaSuccess && pitched != nullptr;
  const std::uint64_t bytes = written ? pitched->pitch * extent.height * extent.depth : 0;
  return Allocated(result, request, written ? &pitched->ptr : nullptr, bytes);
}

CUHEAP_DOOR cudaError_t cudaFree(void* address) {
  return Free<Name::cudaFree>(CUHEAP_HEAP_DRIVER, CUHEAP_CALLER, address);
}

CUHEAP_DOOR cudaError_t cudaFreeHost(void* address) {
  return Free<Name::cudaFreeHost>(CUHEAP_HEAP_PINNED, CUHEAP_CALLER, address);
}

CUHEAP_DOOR cudaError_t cudaHostUnregister(void* address) {
  return Free<Name::cudaHostUnregister>(CUHEAP_HEAP_PINNED, CUHEAP_CALLER, address);
}

// Once for the default stream of the process, once for the thread's.
#define CUHEAP_STREAM_DOORS(suffix)                                                              \
  CUHEAP_DOOR cudaError_t cudaMallocAsync##suffix(void** address, size_t bytes,                  \
                                                  cudaStream_t stream) {                         \
    return Allocate<Name::cudaMallocAsync##suffix>(                                              \
        {CUHEAP_HEAP_ASYNC, CUHEAP_CALLER, bytes, stream}, address, bytes, stream);              \
  }                                                                                              \
  CUHEAP_DOOR cudaError_t cudaMallocFromPoolAsync##suffix(                                       \
      void** address, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {                   \
    return Allocate<Name::cudaMallocFromPoolAsync##suffix>(                                      \
        {CUHEAP_HEAP_ASYNC, CUHEAP_CALLER, bytes, stream}, address, bytes, pool, stream);        \
  }                                                                                              \
  CUHEAP_DOOR cudaError_t cudaFreeAsync##suffix(void* address, cudaStream_t stream) {            \
    return Free<Name::cudaFreeAsync##suffix>(CUHEAP_HEAP_ASYNC, CUHEAP_CALLER, address, stream); \
  }
CUHEAP_STREAM_DOORS()
CUHEAP_STREAM_DOORS(_ptsz)
#undef CUHEAP_STREAM_DOORS
