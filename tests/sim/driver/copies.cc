// Copies: one, two and three dimensions, at once or in a stream.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

std::uintptr_t AddressOf(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// A synchronous copy is work of the default stream that the call waits for.
CUresult CopyNow(const CopyOp& copy) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(nullptr, &stream));
  if (AnyCapture()) {
    CUHEAP_SIM_TRY(CheckUnsafeCall());
    const EngineLock lock;
    CUHEAP_SIM_TRY(RefuseOn(stream));
  }
  CUHEAP_SIM_TRY(Submit(stream, copy));
  WaitForStream(stream);
  return stream->context->broken;
}

CUresult CopyIn(CUstream handle, const CopyOp& copy) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return Submit(stream, copy);
}

// One side of a box: where it starts and how far its rows and planes are apart.
struct Side {
  std::uintptr_t start = 0;
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;
};

CUresult SideOf(CUmemorytype type, const void* host, CUdeviceptr device, Side* out) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      out->start = AddressOf(host);
      return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      out->start = device;
      return CUDA_SUCCESS;
    case CU_MEMORYTYPE_ARRAY:
      return NotSimulated("a copy of an array");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Join(Side to, Side from, std::uint64_t width, std::uint64_t height, std::uint64_t depth,
              CopyOp* out) {
  const bool rows = height > 1 || depth > 1;
  if (rows && (to.pitch < width || from.pitch < width)) return CUDA_ERROR_INVALID_VALUE;
  *out = CopyOp{to.start, from.start, width,      height,    depth,
                to.pitch, to.slice,   from.pitch, from.slice};
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D WithoutContexts(const CUDA_MEMCPY3D_PEER& peer) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = peer.srcXInBytes;
  copy.srcY = peer.srcY;
  copy.srcZ = peer.srcZ;
  copy.srcMemoryType = peer.srcMemoryType;
  copy.srcHost = peer.srcHost;
  copy.srcDevice = peer.srcDevice;
  copy.srcPitch = peer.srcPitch;
  copy.srcHeight = peer.srcHeight;
  copy.dstXInBytes = peer.dstXInBytes;
  copy.dstY = peer.dstY;
  copy.dstZ = peer.dstZ;
  copy.dstMemoryType = peer.dstMemoryType;
  copy.dstHost = peer.dstHost;
  copy.dstDevice = peer.dstDevice;
  copy.dstPitch = peer.dstPitch;
  copy.dstHeight = peer.dstHeight;
  copy.WidthInBytes = peer.WidthInBytes;
  copy.Height = peer.Height;
  copy.Depth = peer.Depth;
  return copy;
}

}  // namespace

CUresult BoxCopy(const CUDA_MEMCPY3D& copy, CopyOp* out) {
  Side from{0, copy.srcPitch, copy.srcPitch * copy.srcHeight};
  Side to{0, copy.dstPitch, copy.dstPitch * copy.dstHeight};
  CUHEAP_SIM_TRY(SideOf(copy.srcMemoryType, copy.srcHost, copy.srcDevice, &from));
  CUHEAP_SIM_TRY(SideOf(copy.dstMemoryType, copy.dstHost, copy.dstDevice, &to));
  from.start += copy.srcXInBytes + copy.srcY * from.pitch + copy.srcZ * from.slice;
  to.start += copy.dstXInBytes + copy.dstY * to.pitch + copy.dstZ * to.slice;
  return Join(to, from, copy.WidthInBytes, copy.Height, copy.Depth, out);
}

CUresult BoxCopy(const CUDA_MEMCPY2D& copy, CopyOp* out) {
  Side from{0, copy.srcPitch, 0};
  Side to{0, copy.dstPitch, 0};
  CUHEAP_SIM_TRY(SideOf(copy.srcMemoryType, copy.srcHost, copy.srcDevice, &from));
  CUHEAP_SIM_TRY(SideOf(copy.dstMemoryType, copy.dstHost, copy.dstDevice, &to));
  from.start += copy.srcXInBytes + copy.srcY * from.pitch;
  to.start += copy.dstXInBytes + copy.dstY * to.pitch;
  return Join(to, from, copy.WidthInBytes, copy.Height, 1, out);
}

CUDA_MEMCPY3D DescribeBox(const CopyOp& copy) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = copy.from;
  box.srcPitch = copy.from_pitch;
  box.srcHeight = copy.from_pitch == 0 ? 0 : copy.from_slice / copy.from_pitch;
  box.dstDevice = copy.to;
  box.dstPitch = copy.to_pitch;
  box.dstHeight = copy.to_pitch == 0 ? 0 : copy.to_slice / copy.to_pitch;
  box.WidthInBytes = copy.width;
  box.Height = copy.height;
  box.Depth = copy.depth;
  return box;
}

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
CUresult face::MemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return CopyNow(LinearCopy(to, from, bytes));
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
CUresult face::MemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                               CUstream stream) {
  return CopyIn(stream, LinearCopy(to, from, bytes));
}

CUresult face::Memcpy2D_v2(const CUDA_MEMCPY2D* copy) { return Memcpy2DUnaligned_v2(copy); }
CUresult face::Memcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyNow(box);
}
CUresult face::Memcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyIn(stream, box);
}
CUresult face::Memcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyNow(box);
}
CUresult face::Memcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  CopyOp box;
  CUHEAP_SIM_TRY(BoxCopy(*copy, &box));
  return CopyIn(stream, box);
}
CUresult face::Memcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  const CUDA_MEMCPY3D plain = WithoutContexts(*copy);
  return Memcpy3D_v2(&plain);
}
CUresult face::Memcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  CUHEAP_SIM_TRY(NeedPointers(copy));
  const CUDA_MEMCPY3D plain = WithoutContexts(*copy);
  return Memcpy3DAsync_v2(&plain, stream);
}

CUresult face::MemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                   CUmemcpyAttributes* attributes, size_t* indices,
                                   size_t attribute_count, CUstream handle) {
  CUHEAP_SIM_TRY(NeedPointers(to, from, bytes, attributes, indices));
  if (count == 0 || attribute_count == 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (stream->is_legacy()) return CUDA_ERROR_INVALID_HANDLE;
  for (size_t i = 0; i < count; ++i) {
    CUHEAP_SIM_TRY(Submit(stream, LinearCopy(to[i], from[i], bytes[i])));
  }
  return CUDA_SUCCESS;
}

CUresult face::MemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                CUmemcpyAttributes* attributes, size_t* indices,
                                size_t attribute_count, size_t* failed, CUstream stream) {
  const CUresult result =
      MemcpyBatchAsync_v2(to, from, bytes, count, attributes, indices, attribute_count, stream);
  if (result != CUDA_SUCCESS) WriteIfAsked(failed, SIZE_MAX);
  return result;
}

}  // namespace cuheap::sim
