// The translation of launch configurations, shared by launches and by occupancy queries.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuheap::sim_runtime {

CUlaunchConfig TranslateConfiguration(const cudaLaunchConfig_t& config);

}  // namespace cuheap::sim_runtime
