#include "tests/sim/runtime/graph_translation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/sim/runtime/array.h"
#include "tests/sim/runtime/copy_translation.h"

namespace cuheap::sim_runtime {
namespace {

template <typename From, typename To>
CUresult TranslateKernelRecord(const From& from, CUcontext context, To* to) {
  to->func = nullptr;
  to->gridDimX = from.gridDim.x;
  to->gridDimY = from.gridDim.y;
  to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x;
  to->blockDimY = from.blockDim.y;
  to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
  to->ctx = context;
  return KernelOf(from.func, &to->kern);
}

// Records that both interfaces lay out alike: the whole union is copied.
void CopyUnion(const cudaGraphNodeParams& from, CUgraphNodeParams* to) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
  std::memcpy(to, &from, sizeof *to);
}

CUresult TranslateMemcpy(const cudaGraphNodeParams& from, CUcontext context,
                         CUgraphNodeParams* to) {
  const auto& reserved = from.memcpy.reserved;
  to->memcpy.flags = from.memcpy.flags;
  to->memcpy.reserved = reserved[0] | reserved[1] | reserved[2];
  to->memcpy.copyCtx = context;
  return TranslateNodeCopy(from.memcpy.copyParams, &to->memcpy.copyParams)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

// An array is the device's.
bool IsHost(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; }

cudaMemcpyKind KindOf(const CUDA_MEMCPY3D& copy) {
  if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (IsHost(copy.srcMemoryType))
    return IsHost(copy.dstMemoryType) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return IsHost(copy.dstMemoryType) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

// Where arrays are, stays.
void SayTypes(bool from_host, bool to_host, CUDA_MEMCPY3D* copy) {
  if (copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED) {
    copy->srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (from_host) copy->srcHost = reinterpret_cast<const void*>(std::exchange(copy->srcDevice, 0));
  }
  if (copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    copy->dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (to_host) copy->dstHost = reinterpret_cast<void*>(std::exchange(copy->dstDevice, 0));
  }
}

}  // namespace

CUcontext CurrentContextOf(const Driver& driver) {
  CUcontext context = nullptr;
  driver.cuCtxGetCurrent(&context);
  return context;
}

CUresult TranslateKernel(const cudaKernelNodeParams& from, CUcontext context,
                         CUDA_KERNEL_NODE_PARAMS* to) {
  return TranslateKernelRecord(from, context, to);
}

CUresult TranslateNode(const cudaGraphNodeParams& from, CUcontext context, CUgraphNodeParams* to) {
  to->type = static_cast<CUgraphNodeType>(from.type);
  std::copy_n(from.reserved0, 3, to->reserved0);
  to->reserved2 = from.reserved2;
  switch (from.type) {
    case cudaGraphNodeTypeKernel:
      return TranslateKernelRecord(from.kernel, context, &to->kernel);
    case cudaGraphNodeTypeMemcpy:
      return TranslateMemcpy(from, context, to);
    case cudaGraphNodeTypeMemset:
      CopyUnion(from, to);
      to->memset.ctx = context;
      return CUDA_SUCCESS;
    case cudaGraphNodeTypeConditional:
      CopyUnion(from, to);
      to->conditional.ctx = context;
      return CUDA_SUCCESS;
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      CopyUnion(from, to);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

bool TranslateNodeCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to) {
  const cudaMemcpyKind kind = from.kind;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return false;
  if (!TranslateCopy(from, to)) return false;
  if (kind == cudaMemcpyDefault) return true;
  SayTypes(kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice,
           kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost, to);
  return true;
}

bool TranslateCopyBack(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms* to) {
  const bool from_array = from.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  const bool to_array = from.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  cudaMemcpy3DParms copy{};
  if (from_array) copy.srcArray = (cudaArray_t)from.srcArray;
  if (to_array) copy.dstArray = (cudaArray_t)from.dstArray;
  std::size_t from_element = 1;
  std::size_t to_element = 1;
  const Driver& driver = GetDriver(DefaultStream::kLegacy);
  if ((from_array && ElementOf(driver, copy.srcArray, &from_element) != CUDA_SUCCESS) ||
      (to_array && ElementOf(driver, copy.dstArray, &to_element) != CUDA_SUCCESS)) {
    return false;
  }
  const bool from_host = from.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = from.dstMemoryType == CU_MEMORYTYPE_HOST;
  const void* source = from_host ? from.srcHost : reinterpret_cast<const void*>(from.srcDevice);
  void* target = to_host ? from.dstHost : reinterpret_cast<void*>(from.dstDevice);
  if (!from_array) {
    copy.srcPtr = {const_cast<void*>(source), from.srcPitch, from.WidthInBytes, from.srcHeight};
  }
  if (!to_array) copy.dstPtr = {target, from.dstPitch, from.WidthInBytes, from.dstHeight};
  copy.srcPos = {from.srcXInBytes / from_element, from.srcY, from.srcZ};
  copy.dstPos = {from.dstXInBytes / to_element, from.dstY, from.dstZ};
  copy.extent = {from.WidthInBytes / (from_array ? from_element : to_element), from.Height,
                 from.Depth};
  copy.kind = KindOf(from);
  *to = copy;
  return true;
}

cudaMemcpy3DParms RowOf(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {const_cast<void*>(source), bytes, bytes, 1};
  copy.dstPtr = {target, bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

}  // namespace cuheap::sim_runtime
