// Copies from and to arrays of one row, by the offset of a byte.
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/array.h"

namespace cuheap::sim {
namespace {

// A row of bytes of an array, as one side of a box.
struct Place {
  CUarray array;
  std::size_t offset;
};

CUresult NeedRow(const Place& place, std::uint32_t* element) {
  const EngineLock lock;
  const Array* array = FindArray(place.array);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (array->descriptor.Height > 1 || array->descriptor.Depth > 1) return CUDA_ERROR_INVALID_VALUE;
  *element = array->format.bytes;
  return CUDA_SUCCESS;
}

void From(const Place& place, CUDA_MEMCPY2D* box) {
  box->srcMemoryType = CU_MEMORYTYPE_ARRAY;
  box->srcArray = place.array;
  box->srcXInBytes = place.offset;
}
void From(CUdeviceptr address, CUDA_MEMCPY2D* box) {
  box->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  box->srcDevice = address;
}
void To(const Place& place, CUDA_MEMCPY2D* box) {
  box->dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box->dstArray = place.array;
  box->dstXInBytes = place.offset;
}
void To(CUdeviceptr address, CUDA_MEMCPY2D* box) {
  box->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  box->dstDevice = address;
}

template <class Target, class Source>
CUresult RowCopy(const Target& to, const Source& from, std::size_t bytes, CopyOp* out) {
  CUDA_MEMCPY2D box{};
  From(from, &box);
  To(to, &box);
  box.WidthInBytes = bytes;
  box.Height = 1;
  return BoxCopy(box, out);
}

CUresult Write(const Place& to, CUdeviceptr from, std::size_t bytes, CopyOp* out) {
  std::uint32_t element = 0;
  CUHEAP_SIM_TRY(NeedRow(to, &element));
  return RowCopy(to, from, bytes, out);
}

CUresult Read(CUdeviceptr to, const Place& from, std::size_t bytes, CopyOp* out) {
  std::uint32_t element = 0;
  CUHEAP_SIM_TRY(NeedRow(from, &element));
  return RowCopy(to, from, bytes, out);
}

CUdeviceptr AddressOf(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

CUresult face::MemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  CUHEAP_SIM_TRY(NeedContext());
  CopyOp copy;
  CUHEAP_SIM_TRY(Write({to, offset}, from, bytes, &copy));
  return CopyNow(copy);
}
CUresult face::MemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  CUHEAP_SIM_TRY(NeedContext());
  std::uint32_t element = 0;
  CUHEAP_SIM_TRY(NeedRow({from, offset}, &element));
  if (to % element != 0 || bytes % element != 0) return CUDA_ERROR_INVALID_VALUE;
  CopyOp copy;
  CUHEAP_SIM_TRY(Read(to, {from, offset}, bytes, &copy));
  return CopyNow(copy);
}
CUresult face::MemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return MemcpyDtoA_v2(to, offset, AddressOf(from), bytes);
}
CUresult face::MemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  CUHEAP_SIM_TRY(NeedContext());
  CopyOp copy;
  CUHEAP_SIM_TRY(Read(AddressOf(to), {from, offset}, bytes, &copy));
  return CopyNow(copy);
}
CUresult face::MemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                             size_t bytes) {
  CUHEAP_SIM_TRY(NeedContext());
  std::uint32_t element = 0;
  CUHEAP_SIM_TRY(NeedRow({to, to_offset}, &element));
  CUHEAP_SIM_TRY(NeedRow({from, from_offset}, &element));
  if (bytes % element != 0) return CUDA_ERROR_INVALID_VALUE;
  CopyOp copy;
  CUHEAP_SIM_TRY(RowCopy(Place{to, to_offset}, Place{from, from_offset}, bytes, &copy));
  return CopyNow(copy);
}
CUresult face::MemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                                  CUstream stream) {
  CopyOp copy;
  CUHEAP_SIM_TRY(Write({to, offset}, AddressOf(from), bytes, &copy));
  return CopyIn(stream, copy);
}
CUresult face::MemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                                  CUstream stream) {
  CopyOp copy;
  CUHEAP_SIM_TRY(Read(AddressOf(to), {from, offset}, bytes, &copy));
  return CopyIn(stream, copy);
}

// The ABI of 32-bit offsets and addresses.
CUresult face::MemcpyDtoA(CUarray to, unsigned offset, CUdeviceptr_v1 from, unsigned bytes) {
  return MemcpyDtoA_v2(to, offset, from, bytes);
}
CUresult face::MemcpyAtoD(CUdeviceptr_v1 to, CUarray from, unsigned offset, unsigned bytes) {
  return MemcpyAtoD_v2(to, from, offset, bytes);
}
CUresult face::MemcpyHtoA(CUarray to, unsigned offset, const void* from, unsigned bytes) {
  return MemcpyHtoA_v2(to, offset, from, bytes);
}
CUresult face::MemcpyAtoH(void* to, CUarray from, unsigned offset, unsigned bytes) {
  return MemcpyAtoH_v2(to, from, offset, bytes);
}
CUresult face::MemcpyAtoA(CUarray to, unsigned to_offset, CUarray from, unsigned from_offset,
                          unsigned bytes) {
  return MemcpyAtoA_v2(to, to_offset, from, from_offset, bytes);
}
CUresult face::MemcpyHtoAAsync(CUarray to, unsigned offset, const void* from, unsigned bytes,
                               CUstream stream) {
  return MemcpyHtoAAsync_v2(to, offset, from, bytes, stream);
}
CUresult face::MemcpyAtoHAsync(void* to, CUarray from, unsigned offset, unsigned bytes,
                               CUstream stream) {
  return MemcpyAtoHAsync_v2(to, from, offset, bytes, stream);
}

}  // namespace cuheap::sim
