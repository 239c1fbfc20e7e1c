// Attributes of streams. They are hints, kept and told; kernels captured in a stream have them.
#include <algorithm>

#include "tests/sim/driver/attribute_values.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUresult CheckValue(CUstreamAttrID id, const CUstreamAttrValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: {
      const bool known = value.syncPolicy >= CU_SYNC_POLICY_AUTO &&
                         value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
      return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return CheckSharedAttribute(id, value);
    default:
      return CUDA_ERROR_INVALID_VALUE;  // not an attribute of streams
  }
}

CUresult Read(const Stream& stream, CUstreamAttrID id, CUstreamAttrValue* out) {
  const StreamAttributes& from = stream.attributes;
  CUstreamAttrValue value{};
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      value.accessPolicyWindow = from.window;
      break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      value.syncPolicy = from.synchronization;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      value.priority = stream.priority;
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      value.memSyncDomainMap = from.domains;
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      value.memSyncDomain = from.domain;
      break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      value.nvlinkUtilCentricScheduling = from.nvlink_centric;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  *out = value;
  return CUDA_SUCCESS;
}

// REQUIRES: the value was checked.
void Write(Stream* stream, CUstreamAttrID id, const CUstreamAttrValue& value) {
  StreamAttributes& to = stream->attributes;
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      to.window = value.accessPolicyWindow;
      return;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      to.synchronization = value.syncPolicy;
      return;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      stream->priority = std::clamp(value.priority, kHighestPriority, kLowestPriority);
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      to.domains = value.memSyncDomainMap;
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      to.domain = value.memSyncDomain;
      return;
    default:
      to.nvlink_centric = value.nvlinkUtilCentricScheduling;
  }
}

}  // namespace

CUresult face::StreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  const EngineLock lock;
  return Read(*stream, id, out);
}

CUresult face::StreamSetAttribute(CUstream handle, CUstreamAttrID id,
                                  const CUstreamAttrValue* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(CheckValue(id, *value));
  const EngineLock lock;
  Write(stream, id, *value);
  return CUDA_SUCCESS;
}

CUresult face::StreamCopyAttributes(CUstream to_handle, CUstream from_handle) {
  Stream* to = nullptr;
  Stream* from = nullptr;
  CUHEAP_SIM_TRY(StreamOf(to_handle, &to));
  CUHEAP_SIM_TRY(StreamOf(from_handle, &from));
  if (to->context != from->context) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  to->attributes = from->attributes;
  to->priority = from->priority;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
