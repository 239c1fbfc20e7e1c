// Attributes of kernel nodes. They are hints, kept and told.
#include "tests/sim/driver/attribute_values.h"
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

CUresult KernelNodeOf(CUgraphNode handle, GraphNode** out) {
  *out = Nodes().Find(handle);
  if (*out == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return NodeTypeOf((*out)->operation) == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_INVALID_VALUE;
}

bool IsOfNodes(CUkernelNodeAttrID id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return true;
    default:
      return false;
  }
}

CUresult CheckId(CUkernelNodeAttrID id) {
  if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
    return NotSimulated("a kernel node that is updated from the device");
  return IsOfNodes(id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// What a node has that nobody gave a value.
CUkernelNodeAttrValue DefaultOf(CUkernelNodeAttrID id) {
  CUkernelNodeAttrValue value{};
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap = {0, 1};
  return value;
}

}  // namespace

void KeepAttributes(const CUlaunchAttribute* list, unsigned count, GraphNode* node) {
  for (const CUlaunchAttribute* at = list; at != list + count; ++at)
    if (IsOfNodes(at->id)) node->attributes[at->id] = at->value;
}

// PARTIAL: nodes that are updated from the device are refused.
CUresult face::GraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                           CUkernelNodeAttrValue* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(KernelNodeOf(handle, &node));
  CUHEAP_SIM_TRY(CheckId(id));
  const auto found = node->attributes.find(id);
  *out = found == node->attributes.end() ? DefaultOf(id) : found->second;
  return CUDA_SUCCESS;
}

// PARTIAL: nodes that are updated from the device are refused.
CUresult face::GraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                           const CUkernelNodeAttrValue* value) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  const EngineLock lock;
  GraphNode* node = nullptr;
  CUHEAP_SIM_TRY(KernelNodeOf(handle, &node));
  CUHEAP_SIM_TRY(CheckId(id));
  CUHEAP_SIM_TRY(CheckSharedAttribute(id, *value));
  node->attributes[id] = *value;
  return CUDA_SUCCESS;
}

CUresult face::GraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle) {
  const EngineLock lock;
  GraphNode* to = nullptr;
  GraphNode* from = nullptr;
  CUHEAP_SIM_TRY(KernelNodeOf(to_handle, &to));
  CUHEAP_SIM_TRY(KernelNodeOf(from_handle, &from));
  if (to->context != from->context) return CUDA_ERROR_INVALID_VALUE;
  to->attributes = from->attributes;
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
