// Copies in the first ABI, with addresses and sizes of 32 bits: the later ones with wider numbers.
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

// The names of the members are the same in both ABIs, and so is their meaning.
template <class New, class Old>
New WidenPlane(const Old& old) {
  New copy{};
  copy.srcXInBytes = old.srcXInBytes;
  copy.srcY = old.srcY;
  copy.srcMemoryType = old.srcMemoryType;
  copy.srcHost = old.srcHost;
  copy.srcDevice = old.srcDevice;
  copy.srcArray = old.srcArray;
  copy.srcPitch = old.srcPitch;
  copy.dstXInBytes = old.dstXInBytes;
  copy.dstY = old.dstY;
  copy.dstMemoryType = old.dstMemoryType;
  copy.dstHost = old.dstHost;
  copy.dstDevice = old.dstDevice;
  copy.dstArray = old.dstArray;
  copy.dstPitch = old.dstPitch;
  copy.WidthInBytes = old.WidthInBytes;
  copy.Height = old.Height;
  return copy;
}

CUDA_MEMCPY2D Widen(const CUDA_MEMCPY2D_v1& old) { return WidenPlane<CUDA_MEMCPY2D>(old); }

CUDA_MEMCPY3D Widen(const CUDA_MEMCPY3D_v1& old) {
  auto copy = WidenPlane<CUDA_MEMCPY3D>(old);
  copy.srcZ = old.srcZ;
  copy.srcLOD = old.srcLOD;
  copy.srcHeight = old.srcHeight;
  copy.dstZ = old.dstZ;
  copy.dstLOD = old.dstLOD;
  copy.dstHeight = old.dstHeight;
  copy.Depth = old.Depth;
  return copy;
}

// Calls `copy` with the description of the later ABI.
template <class Old, class Copy>
CUresult Widened(const Old* old, Copy copy) {
  CUHEAP_SIM_TRY(NeedPointers(old));
  const auto wide = Widen(*old);
  return copy(&wide);
}

}  // namespace

CUresult face::MemcpyHtoD(CUdeviceptr_v1 to, const void* from, unsigned bytes) {
  return MemcpyHtoD_v2(to, from, bytes);
}
CUresult face::MemcpyDtoH(void* to, CUdeviceptr_v1 from, unsigned bytes) {
  return MemcpyDtoH_v2(to, from, bytes);
}
CUresult face::MemcpyDtoD(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned bytes) {
  return MemcpyDtoD_v2(to, from, bytes);
}
CUresult face::MemcpyHtoDAsync(CUdeviceptr_v1 to, const void* from, unsigned bytes,
                               CUstream stream) {
  return MemcpyHtoDAsync_v2(to, from, bytes, stream);
}
CUresult face::MemcpyDtoHAsync(void* to, CUdeviceptr_v1 from, unsigned bytes, CUstream stream) {
  return MemcpyDtoHAsync_v2(to, from, bytes, stream);
}
CUresult face::MemcpyDtoDAsync(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned bytes,
                               CUstream stream) {
  return MemcpyDtoDAsync_v2(to, from, bytes, stream);
}

CUresult face::Memcpy2D(const CUDA_MEMCPY2D_v1* copy) {
  return Widened(copy, [](const auto* wide) { return Memcpy2D_v2(wide); });
}
CUresult face::Memcpy2DUnaligned(const CUDA_MEMCPY2D_v1* copy) {
  return Widened(copy, [](const auto* wide) { return Memcpy2DUnaligned_v2(wide); });
}
CUresult face::Memcpy2DAsync(const CUDA_MEMCPY2D_v1* copy, CUstream stream) {
  return Widened(copy, [&](const auto* wide) { return Memcpy2DAsync_v2(wide, stream); });
}
CUresult face::Memcpy3D(const CUDA_MEMCPY3D_v1* copy) {
  return Widened(copy, [](const auto* wide) { return Memcpy3D_v2(wide); });
}
CUresult face::Memcpy3DAsync(const CUDA_MEMCPY3D_v1* copy, CUstream stream) {
  return Widened(copy, [&](const auto* wide) { return Memcpy3DAsync_v2(wide, stream); });
}

}  // namespace cuheap::sim
