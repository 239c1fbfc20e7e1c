// Launches. The path of <<<...>>> is __cudaPushCallConfiguration, __cudaPopCallConfiguration,
// __cudaLaunchKernel; it takes no lock and touches no map.
#include "tests/sim/runtime/launch.h"

#include <vector>

#include "tests/sim/runtime/export.h"
#include "tests/sim/runtime/registry.h"

namespace cuheap::sim_runtime {

CUlaunchConfig TranslateConfiguration(const cudaLaunchConfig_t& config) {
  CUlaunchConfig translated{};
  translated.gridDimX = config.gridDim.x;
  translated.gridDimY = config.gridDim.y;
  translated.gridDimZ = config.gridDim.z;
  translated.blockDimX = config.blockDim.x;
  translated.blockDimY = config.blockDim.y;
  translated.blockDimZ = config.blockDim.z;
  translated.sharedMemBytes = static_cast<unsigned int>(config.dynamicSmemBytes);
  translated.hStream = config.stream;
  translated.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  translated.numAttrs = config.numAttrs;
  return translated;
}

}  // namespace cuheap::sim_runtime

using namespace cuheap::sim_runtime;

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// Nested, because an argument of a launch may itself launch.
thread_local std::vector<Configuration> pending;

// The driver calls a wrong grid an invalid value, the runtime an invalid configuration.
CUresult AsLaunchResult(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE ? static_cast<CUresult>(cudaErrorInvalidConfiguration)
                                            : result;
}

CUresult Launch(const Driver& driver, CUkernel kernel, dim3 grid, dim3 block, void** arguments,
                size_t shared_bytes, cudaStream_t stream) {
  return AsLaunchResult(driver.cuLaunchKernel(
      reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
      static_cast<unsigned int>(shared_bytes), stream, arguments, nullptr));
}

}  // namespace

extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                    CUstream_st* stream) {
  pending.push_back({grid, block, shared_bytes, stream});
  return 0;
}

extern "C" cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                                  void* stream) {
  if (pending.empty()) return Record(cudaErrorMissingConfiguration);
  const Configuration& last = pending.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  pending.pop_back();
  return cudaSuccess;
}

CUHEAP_TWO_FACES(__cudaLaunchKernel, _ptsz,
                 (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                  cudaStream_t stream),
                 kernel, grid, block, arguments, shared_bytes, stream) {
  if (kernel == nullptr) return static_cast<CUresult>(cudaErrorInvalidDeviceFunction);
  return Launch(driver, kernel, grid, block, arguments, shared_bytes, stream);
}

CUHEAP_TWO_FACES(cudaLaunchKernel, _ptsz,
                 (const void* stub, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                  cudaStream_t stream),
                 stub, grid, block, arguments, shared_bytes, stream) {
  CUkernel kernel = nullptr;
  const CUresult result = KernelOf(stub, &kernel);
  if (result != CUDA_SUCCESS) return result;
  return Launch(driver, kernel, grid, block, arguments, shared_bytes, stream);
}

CUHEAP_TWO_FACES(cudaLaunchCooperativeKernel, _ptsz,
                 (const void* stub, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                  cudaStream_t stream),
                 stub, grid, block, arguments, shared_bytes, stream) {
  CUkernel kernel = nullptr;
  const CUresult result = KernelOf(stub, &kernel);
  if (result != CUDA_SUCCESS) return result;
  return AsLaunchResult(driver.cuLaunchCooperativeKernel(
      reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
      static_cast<unsigned int>(shared_bytes), stream, arguments));
}

CUHEAP_TWO_FACES(cudaLaunchKernelExC, _ptsz,
                 (const cudaLaunchConfig_t* config, const void* stub, void** arguments), config,
                 stub, arguments) {
  CUkernel kernel = nullptr;
  const CUresult result = KernelOf(stub, &kernel);
  if (result != CUDA_SUCCESS) return result;
  const CUlaunchConfig translated = TranslateConfiguration(*config);
  return AsLaunchResult(driver.cuLaunchKernelEx(&translated, reinterpret_cast<CUfunction>(kernel),
                                                arguments, nullptr));
}
