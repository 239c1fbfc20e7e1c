// What a context is set to: limits, preferences, affinity.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {

namespace {

// Limits that the device has; kernels that synchronise in depth end with capability 9.0.
bool HasLimit(CUlimit limit) {
  if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) return TheSettings().capability.major < 9;
  return limit >= 0 && limit < CU_LIMIT_MAX;
}

bool IsReadOnly(CUlimit limit) {
  return limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED;
}

}  // namespace

CUresult face::CtxSetLimit(CUlimit limit, size_t value) {
  constexpr size_t kDeepestLaunch = 24;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (!HasLimit(limit) || IsReadOnly(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH && value > kDeepestLaunch)
    return CUDA_ERROR_INVALID_VALUE;
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult face::CtxGetLimit(size_t* value, CUlimit limit) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (!HasLimit(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = context->limits[limit];
  return CUDA_SUCCESS;
}

CUresult face::CtxGetCacheConfig(CUfunc_cache* config) {
  CUHEAP_SIM_TRY(NeedPointers(config));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  *config = context->cache;
  return CUDA_SUCCESS;
}

// A preference of the hardware: nothing but the query can tell the difference.
CUresult face::CtxSetCacheConfig(CUfunc_cache config) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  context->cache = config;
  return CUDA_SUCCESS;
}
CUresult face::CtxResetPersistingL2Cache() { return NeedContext(); }

// Banks of shared memory are four bytes wide and nothing changes that.
CUresult face::CtxGetSharedMemConfig(CUsharedconfig* config) {
  CUHEAP_SIM_TRY(NeedPointers(config));
  CUHEAP_SIM_TRY(NeedContext());
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}
CUresult face::CtxSetSharedMemConfig(CUsharedconfig config) {
  CUHEAP_SIM_TRY(NeedContext());
  return config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                 config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

// No context is bound to a part of the multiprocessors: there is no multi-process service.
CUresult face::CtxGetExecAffinity(CUexecAffinityParam* out, CUexecAffinityType type) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  return type >= 0 && type < CU_EXEC_AFFINITY_TYPE_MAX ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                                       : CUDA_ERROR_INVALID_VALUE;
}

CUresult face::CtxGetStreamPriorityRange(int* least, int* greatest) {
  CUHEAP_SIM_TRY(NeedContext());
  WriteIfAsked(least, kLowestPriority);
  WriteIfAsked(greatest, kHighestPriority);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
