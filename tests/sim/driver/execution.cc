// Launches and occupancy. Kernels compute nothing; a launch that a device would refuse is refused.
#include <algorithm>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

CUresult LaunchIn(const KernelOp& kernel, CUstream handle, bool cooperative) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(CheckLaunch(kernel, cooperative));
  return SubmitKernel(stream, kernel);
}

bool IsCooperative(const CUlaunchConfig& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const auto& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0;
  });
}

CUresult NeedFunction(CUfunction handle) {
  return Functions().Find(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

constexpr int kLargestPortableCluster = 8;

}  // namespace

CUresult face::LaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream, void**,
                            void**) {
  return LaunchIn({Cast<Function*>(function), {gx, gy, gz}, {bx, by, bz}, shared}, stream, false);
}

CUresult face::LaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                       unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                       CUstream stream, void**) {
  return LaunchIn({Cast<Function*>(function), {gx, gy, gz}, {bx, by, bz}, shared}, stream, true);
}

CUresult face::LaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  CUHEAP_SIM_TRY(NeedPointers(config));
  const KernelOp kernel{Cast<Function*>(function),
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes};
  return LaunchIn(kernel, config->hStream, IsCooperative(*config));
}

CUresult face::OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                         int threads, size_t shared) {
  return OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

CUresult face::OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                  int threads, size_t shared,
                                                                  unsigned) {
  CUHEAP_SIM_TRY(NeedPointers(blocks));
  CUHEAP_SIM_TRY(NeedFunction(function));
  if (threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  *blocks = ResidentBlocks(threads, shared);
  return CUDA_SUCCESS;
}

CUresult face::OccupancyMaxPotentialBlockSize(int* grid, int* threads, CUfunction function,
                                              CUoccupancyB2DSize shared_of, size_t shared,
                                              int limit) {
  return OccupancyMaxPotentialBlockSizeWithFlags(grid, threads, function, shared_of, shared, limit,
                                                 0);
}

CUresult face::OccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* threads, CUfunction function,
                                                       CUoccupancyB2DSize shared_of, size_t shared,
                                                       int limit, unsigned) {
  CUHEAP_SIM_TRY(NeedPointers(grid, threads));
  CUHEAP_SIM_TRY(NeedFunction(function));
  int best = 0;
  int best_threads = 0;
  for (int size = limit > 0 ? std::min(limit, 1024) / 32 * 32 : 1024; size >= 32; size -= 32) {
    const int resident = ResidentBlocks(size, shared_of != nullptr ? shared_of(size) : shared);
    if (resident * size <= best_threads) continue;
    best_threads = resident * size;
    best = size;
  }
  *threads = best;
  *grid = best == 0 ? 0 : best_threads / best * TheSettings().sms;
  return CUDA_SUCCESS;
}

CUresult face::OccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                     int threads) {
  CUHEAP_SIM_TRY(NeedPointers(bytes));
  CUHEAP_SIM_TRY(NeedFunction(function));
  if (blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  *bytes = static_cast<size_t>(kMaxSharedPerBlock / blocks);
  return CUDA_SUCCESS;
}

CUresult face::OccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                                const CUlaunchConfig* config) {
  CUHEAP_SIM_TRY(NeedPointers(size, config));
  CUHEAP_SIM_TRY(NeedFunction(function));
  *size = kLargestPortableCluster;
  return CUDA_SUCCESS;
}

CUresult face::OccupancyMaxActiveClusters(int* count, CUfunction function,
                                          const CUlaunchConfig* config) {
  CUHEAP_SIM_TRY(NeedPointers(count, config));
  CUHEAP_SIM_TRY(NeedFunction(function));
  const int threads = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
  *count =
      ResidentBlocks(threads, config->sharedMemBytes) * TheSettings().sms / kLargestPortableCluster;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
