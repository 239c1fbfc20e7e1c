// Copies between addresses, and of boxes: one, two and three dimensions, at once or in a stream.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

std::uintptr_t AddressOf(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <class Copy>
CUresult BoxNow(const Copy* copy) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CUHEAP_SIM_TRY(NeedContext());
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyNow(box);
}

CUresult NeedLiving(CUcontext handle) {
  const Context* context = FindContext(handle);
  return context != nullptr && context->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult NeedLiving(CUcontext first, CUcontext second) {
  CUHEAP_SIM_TRY(NeedLiving(first));
  return NeedLiving(second);
}

CopyOp BetweenContexts(CopyOp copy) {
  copy.between_contexts = true;
  return copy;
}

CUresult PeerBox(const CUDA_MEMCPY3D_PEER* copy, CopyOp* out) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(BoxCopy(*copy, out));
  out->between_contexts = true;
  return CUDA_SUCCESS;
}

template <class Copy>
CUresult BoxIn(CUstream stream, const Copy* copy) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyIn(stream, box);
}

}  // namespace

CUresult face::Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyNow(LinearCopy(to, from, bytes));
}
CUresult face::MemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return CopyNow(LinearCopy(to, AddressOf(from), bytes));
}
CUresult face::MemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return CopyNow(LinearCopy(AddressOf(to), from, bytes));
}
CUresult face::MemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyNow(LinearCopy(to, from, bytes));
}
CUresult face::MemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t bytes) {
  CUHEAP_SIM_TRY(NeedLiving(to_context, from_context));
  return CopyNow(BetweenContexts(LinearCopy(to, from, bytes)));
}

CUresult face::MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyIn(stream, LinearCopy(to, from, bytes));
}
CUresult face::MemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return CopyIn(stream, LinearCopy(to, AddressOf(from), bytes));
}
CUresult face::MemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyIn(stream, LinearCopy(AddressOf(to), from, bytes));
}
CUresult face::MemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyIn(stream, LinearCopy(to, from, bytes));
}
CUresult face::MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, CUstream stream) {
  CUHEAP_SIM_TRY(NeedLiving(to_context, from_context));
  return CopyIn(stream, BetweenContexts(LinearCopy(to, from, bytes)));
}

CUresult face::Memcpy2D_v2(const CUDA_MEMCPY2D* copy) { return BoxNow(copy); }
CUresult face::Memcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return BoxNow(copy); }
CUresult face::Memcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return BoxIn(stream, copy);
}
CUresult face::Memcpy3D_v2(const CUDA_MEMCPY3D* copy) { return BoxNow(copy); }
CUresult face::Memcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return BoxIn(stream, copy);
}
CUresult face::Memcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  CopyOp box;
  CUHEAP_SIM_TRY(PeerBox(copy, &box));
  return CopyNow(box);
}
CUresult face::Memcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  CopyOp box;
  CUHEAP_SIM_TRY(PeerBox(copy, &box));
  return CopyIn(stream, box);
}

}  // namespace cuheap::sim
