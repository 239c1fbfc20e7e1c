// Checks of launch attributes, of streams and of nodes alike.
#pragma once

#include <cuda.h>

#include "tests/sim/engine/stream.h"

namespace cuheap::sim {

inline constexpr std::size_t kMostWindowBytes = 134213632;  // MAX_ACCESS_POLICY_WINDOW_SIZE
inline constexpr unsigned kDomains = 4;                     // MEM_SYNC_DOMAIN_COUNT

inline bool IsWindow(const CUaccessPolicyWindow& window) {
  const bool known = window.hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
                     window.missProp <= CU_ACCESS_PROPERTY_STREAMING;
  return known && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.num_bytes <= kMostWindowBytes;
}

// INVALID_VALUE: no such value of an attribute that streams and nodes have both.
inline CUresult CheckSharedAttribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  bool valid = true;
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      valid = IsWindow(value.accessPolicyWindow);
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      valid =
          value.memSyncDomainMap.default_ < kDomains && value.memSyncDomainMap.remote < kDomains;
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      valid = value.memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
      break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      valid = value.nvlinkUtilCentricScheduling <= 1;
      break;
    default:
      break;
  }
  return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuheap::sim
