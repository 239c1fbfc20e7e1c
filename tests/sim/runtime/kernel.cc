// Attributes and occupancy of kernels, and libraries loaded by hand.
#include <cstring>

#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/launch.h"
#include "tests/sim/runtime/registry.h"

using namespace cuheap::sim_runtime;

namespace {

template <typename Function>
cudaError_t WithFunction(const void* stub, Function&& call) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUfunction function = nullptr;
    const CUresult result = FunctionOf(stub, &function);
    return result == CUDA_SUCCESS ? call(driver, function) : result;
  });
}

int AttributeOf(const Driver& driver, CUfunction function, CUfunction_attribute attribute,
                CUresult* result) {
  int value = 0;
  if (*result == CUDA_SUCCESS) *result = driver.cuFuncGetAttribute(&value, attribute, function);
  return value;
}

CUresult FillAttributes(const Driver& driver, CUfunction function, cudaFuncAttributes* attributes) {
  CUresult result = CUDA_SUCCESS;
  const auto get = [&](CUfunction_attribute attribute) {
    return AttributeOf(driver, function, attribute, &result);
  };
  std::memset(attributes, 0, sizeof *attributes);
  attributes->sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  attributes->constSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  attributes->localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  attributes->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->cacheModeCA = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  attributes->maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes->preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return result;
}

}  // namespace

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  if (attributes == nullptr) return Record(cudaErrorInvalidValue);
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return FillAttributes(driver, function, attributes);
  });
}

extern "C" cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute,
                                            int value) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return driver.cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value);
  });
}

extern "C" cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache config) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return driver.cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(config));
  });
}

extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                                     int block_size,
                                                                     size_t shared_bytes) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
                                                              shared_bytes);
  });
}

extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int block_size, size_t shared_bytes, unsigned int flags) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                       shared_bytes, flags);
  });
}

extern "C" cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* stub,
                                                                 int blocks, int block_size) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    return driver.cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size);
  });
}

extern "C" cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* stub,
                                                            const cudaLaunchConfig_t* config) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    const CUlaunchConfig translated = TranslateConfiguration(*config);
    return driver.cuOccupancyMaxPotentialClusterSize(size, function, &translated);
  });
}

extern "C" cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* stub,
                                                      const cudaLaunchConfig_t* config) {
  return WithFunction(stub, [&](const Driver& driver, CUfunction function) {
    const CUlaunchConfig translated = TranslateConfiguration(*config);
    return driver.cuOccupancyMaxActiveClusters(clusters, function, &translated);
  });
}

CUHEAP_FORWARD(cudaKernelSetAttributeForDevice, cuKernelSetAttribute,
               (cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device), attribute,
               value, kernel, device)
CUHEAP_FORWARD(cudaLibraryLoadData, cuLibraryLoadData,
               (cudaLibrary_t * library, const void* code, cudaJitOption* jit_options,
                void** jit_values, unsigned int jit_count, cudaLibraryOption* options,
                void** values, unsigned int count),
               library, code, jit_options, jit_values, jit_count, options, values, count)
CUHEAP_FORWARD(cudaLibraryLoadFromFile, cuLibraryLoadFromFile,
               (cudaLibrary_t * library, const char* file, cudaJitOption* jit_options,
                void** jit_values, unsigned int jit_count, cudaLibraryOption* options,
                void** values, unsigned int count),
               library, file, jit_options, jit_values, jit_count, options, values, count)
CUHEAP_FORWARD(cudaLibraryUnload, cuLibraryUnload, (cudaLibrary_t library), library)
CUHEAP_FORWARD(cudaLibraryGetKernel, cuLibraryGetKernel,
               (cudaKernel_t * kernel, cudaLibrary_t library, const char* name), kernel, library,
               name)
CUHEAP_FORWARD(cudaLibraryGetKernelCount, cuLibraryGetKernelCount,
               (unsigned int* count, cudaLibrary_t library), count, library)
CUHEAP_FORWARD(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels,
               (cudaKernel_t * kernels, unsigned int count, cudaLibrary_t library), kernels, count,
               library)
CUHEAP_FORWARD(cudaLibraryGetGlobal, cuLibraryGetGlobal,
               (void** pointer, size_t* bytes, cudaLibrary_t library, const char* name), pointer,
               bytes, library, name)
CUHEAP_FORWARD(cudaLibraryGetManaged, cuLibraryGetManaged,
               (void** pointer, size_t* bytes, cudaLibrary_t library, const char* name), pointer,
               bytes, library, name)
CUHEAP_FORWARD(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction,
               (void** function, cudaLibrary_t library, const char* name), function, library, name)
