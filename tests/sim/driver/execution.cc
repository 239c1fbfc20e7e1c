// Launches and occupancy. Kernels compute nothing; a launch that a device would refuse is refused.
#include <algorithm>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

bool IsCooperative(const CUlaunchAttribute* list, unsigned count) {
  return std::any_of(list, list + count, [](const auto& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0;
  });
}

CUresult LaunchIn(const KernelOp& kernel, CUstream handle, const CUlaunchAttribute* attributes,
                  unsigned count) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(CheckLaunch(kernel, IsCooperative(attributes, count)));
  if (count == 0 || stream->capture.load() == nullptr) return SubmitKernel(stream, kernel);
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(Submit(stream, kernel, &node));
  const EngineLock lock;
  if (Nodes().Find(node) != nullptr) KeepAttributes(attributes, count, node);
  return CUDA_SUCCESS;
}

CUresult NeedFunction(CUfunction handle) {
  return Functions().Find(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

constexpr int kLargestPortableCluster = 8;

}  // namespace

CUresult face::LaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream, void**,
                            void**) {
  return LaunchIn({Cast<Function*>(function), {gx, gy, gz}, {bx, by, bz}, shared}, stream, nullptr,
                  0);
}

CUresult face::LaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                       unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                       CUstream stream, void**) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  return LaunchIn({Cast<Function*>(function), {gx, gy, gz}, {bx, by, bz}, shared}, stream,
                  &cooperative, 1);
}

CUresult face::LaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  CUHEAP_SIM_TRY(NeedPointers(config));
  if (config->numAttrs != 0) CUHEAP_SIM_TRY(NeedPointers(config->attrs));
  const KernelOp kernel{Cast<Function*>(function),
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes};
  return LaunchIn(kernel, config->hStream, config->attrs, config->numAttrs);
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
