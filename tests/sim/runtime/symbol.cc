// Device variables: where they are, and copies to and from them.
#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/registry.h"

using namespace cuheap::sim_runtime;

namespace {

// The address of `count` bytes of a variable. `host_kind` is the one kind with the host that the
// copy may have: variables live on the device.
CUresult Find(const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
              cudaMemcpyKind host_kind, CUdeviceptr* out) {
  if (kind != host_kind && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return kInvalidDirection;
  }
  CUdeviceptr address = 0;
  size_t size = 0;
  const CUresult result = VariableOf(symbol, &address, &size);
  if (result != CUDA_SUCCESS) return result;
  if (offset > size || count > size - offset) return CUDA_ERROR_INVALID_VALUE;
  *out = address + offset;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver&) {
    size_t size = 0;
    return VariableOf(symbol, reinterpret_cast<CUdeviceptr*>(pointer), &size);
  });
}

extern "C" cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  if (size == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver&) {
    CUdeviceptr address = 0;
    return VariableOf(symbol, &address, size);
  });
}

CUHEAP_TWO_FACES(cudaMemcpyToSymbol, _ptds,
                 (const void* symbol, const void* source, size_t count, size_t offset,
                  cudaMemcpyKind kind),
                 symbol, source, count, offset, kind) {
  CUdeviceptr target = 0;
  const CUresult result = Find(symbol, count, offset, kind, cudaMemcpyHostToDevice, &target);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpy, target, source, count);
}

CUHEAP_TWO_FACES(cudaMemcpyToSymbolAsync, _ptsz,
                 (const void* symbol, const void* source, size_t count, size_t offset,
                  cudaMemcpyKind kind, cudaStream_t stream),
                 symbol, source, count, offset, kind, stream) {
  CUdeviceptr target = 0;
  const CUresult result = Find(symbol, count, offset, kind, cudaMemcpyHostToDevice, &target);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpyAsync, target, source, count, stream);
}

CUHEAP_TWO_FACES(cudaMemcpyFromSymbol, _ptds,
                 (void* target, const void* symbol, size_t count, size_t offset,
                  cudaMemcpyKind kind),
                 target, symbol, count, offset, kind) {
  CUdeviceptr source = 0;
  const CUresult result = Find(symbol, count, offset, kind, cudaMemcpyDeviceToHost, &source);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpy, target, source, count);
}

CUHEAP_TWO_FACES(cudaMemcpyFromSymbolAsync, _ptsz,
                 (void* target, const void* symbol, size_t count, size_t offset,
                  cudaMemcpyKind kind, cudaStream_t stream),
                 target, symbol, count, offset, kind, stream) {
  CUdeviceptr source = 0;
  const CUresult result = Find(symbol, count, offset, kind, cudaMemcpyDeviceToHost, &source);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpyAsync, target, source, count, stream);
}
