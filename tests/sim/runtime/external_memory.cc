// Memory imported from other interfaces.
#include "tests/sim/runtime/array.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaImportExternalMemory(cudaExternalMemory_t* memory,
                                                const cudaExternalMemoryHandleDesc* description) {
  if (memory == nullptr || description == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC read{};
    read.type = static_cast<CUexternalMemoryHandleType>(description->type);
    read.handle.win32.handle = description->handle.win32.handle;
    read.handle.win32.name = description->handle.win32.name;
    read.size = description->size;
    read.flags = description->flags;
    return Call(driver.cuImportExternalMemory, memory, &read);
  });
}

extern "C" cudaError_t cudaExternalMemoryGetMappedBuffer(
    void** pointer, cudaExternalMemory_t memory, const cudaExternalMemoryBufferDesc* description) {
  if (pointer == nullptr || description == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC read{};
    read.offset = description->offset;
    read.size = description->size;
    read.flags = description->flags;
    return Call(driver.cuExternalMemoryGetMappedBuffer, pointer, memory, &read);
  });
}

extern "C" cudaError_t cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t* array, cudaExternalMemory_t memory,
    const cudaExternalMemoryMipmappedArrayDesc* description) {
  if (array == nullptr || description == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC read{};
    read.offset = description->offset;
    read.numLevels = description->numLevels;
    const CUresult known = DescribeArray(description->formatDesc, description->extent,
                                         description->flags, &read.arrayDesc);
    if (known != CUDA_SUCCESS) return known;
    return Call(driver.cuExternalMemoryGetMappedMipmappedArray, array, memory, &read);
  });
}

CUHEAP_FORWARD(cudaDestroyExternalMemory, cuDestroyExternalMemory, (cudaExternalMemory_t memory),
               memory)
