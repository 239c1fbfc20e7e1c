// Batches of copies.
#include <cstdint>

#include "tests/sim/driver/batches.h"
#include "tests/sim/driver/copy_box.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/array.h"

namespace cuheap::sim {
namespace {

CUresult BatchStream(CUstream handle, Stream** out) {
  CUHEAP_SIM_TRY(StreamOf(handle, out));
  return (*out)->is_legacy() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult SetOrder(CUmemcpySrcAccessOrder order, unsigned flags, CopyOp* copy) {
  const bool known = order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
                     order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
                     order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  if (!known || (flags & ~CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  copy->source_now = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  return CUDA_SUCCESS;
}

// 0: not an array; its elements are bytes, or those of the array on the other side.
CUresult ElementOf(const CUmemcpy3DOperand& operand, std::size_t* out) {
  *out = 0;
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_SUCCESS;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  const Array* array = FindArray(operand.op.array.array);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *out = array->format.bytes;
  return CUDA_SUCCESS;
}

// A side of a box, in the words of cuMemcpy3D.
struct Operand {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  CUoffset3D offset{};
  std::size_t pitch = 0;
  std::size_t height = 0;
};

CUresult Read(const CUmemcpy3DOperand& from, const CUextent3D& extent, std::size_t element,
              Operand* out) {
  if (from.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    out->type = CU_MEMORYTYPE_ARRAY;
    out->array = from.op.array.array;
    out->offset = from.op.array.offset;
    return __builtin_mul_overflow(out->offset.x, element, &out->offset.x) ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
  }
  const auto& place = from.op.ptr;
  const std::size_t row = place.rowLength == 0 ? extent.width : place.rowLength;
  out->address = place.ptr;
  out->height = place.layerHeight == 0 ? extent.height : place.layerHeight;
  if (row < extent.width || out->height < extent.height ||
      __builtin_mul_overflow(row, element, &out->pitch)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D BoxBetween(const Operand& from, const Operand& to, const CUextent3D& bytes) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = from.type;
  box.srcDevice = from.address;
  box.srcArray = from.array;
  box.srcXInBytes = from.offset.x;
  box.srcY = from.offset.y;
  box.srcZ = from.offset.z;
  box.srcPitch = from.pitch;
  box.srcHeight = from.height;
  box.dstMemoryType = to.type;
  box.dstDevice = to.address;
  box.dstArray = to.array;
  box.dstXInBytes = to.offset.x;
  box.dstY = to.offset.y;
  box.dstZ = to.offset.z;
  box.dstPitch = to.pitch;
  box.dstHeight = to.height;
  box.WidthInBytes = bytes.width;
  box.Height = bytes.height;
  box.Depth = bytes.depth;
  return box;
}

CUresult ReadOperation(const CUDA_MEMCPY3D_BATCH_OP& operation, CopyOp* out) {
  CUextent3D extent = operation.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_ERROR_INVALID_VALUE;
  std::size_t from_element = 0;
  std::size_t to_element = 0;
  CUHEAP_SIM_TRY(ElementOf(operation.src, &from_element));
  CUHEAP_SIM_TRY(ElementOf(operation.dst, &to_element));
  std::size_t element = from_element != 0 ? from_element : to_element;
  if (element == 0) element = 1;
  Operand from;
  Operand to;
  CUHEAP_SIM_TRY(Read(operation.src, extent, element, &from));
  CUHEAP_SIM_TRY(Read(operation.dst, extent, element, &to));
  if (__builtin_mul_overflow(extent.width, element, &extent.width)) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(BoxCopy(BoxBetween(from, to, extent), out));
  return SetOrder(operation.srcAccessOrder, operation.flags, out);
}

// `failed` is told which copy is at fault, if one is.
CUresult LinearBatch(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                     CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count,
                     CUstream handle, size_t* failed) {
  CUHEAP_SIM_TRY(NeedPointers(to, from, bytes, attributes, indices));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<size_t> entries;
  CUHEAP_SIM_TRY(EntryOfEach(indices, attribute_count, count, &entries));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(BatchStream(handle, &stream));
  std::vector<CopyOp> copies;
  for (size_t i = 0; i < count; ++i) {
    copies.push_back(LinearCopy(to[i], from[i], bytes[i]));
    const CUmemcpyAttributes& with = attributes[entries[i]];
    CUHEAP_SIM_TRY(SetOrder(with.srcAccessOrder, with.flags, &copies.back()));
  }
  return CopyBatch(stream, copies, failed);
}

CUresult BoxBatch(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, unsigned long long flags,
                  CUstream handle, size_t* failed) {
  CUHEAP_SIM_TRY(NeedPointers(operations));
  if (count == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(BatchStream(handle, &stream));
  std::vector<CopyOp> copies;
  for (size_t i = 0; i < count; ++i) {
    CopyOp copy;
    const CUresult read = ReadOperation(operations[i], &copy);
    if (read != CUDA_SUCCESS) {
      *failed = i;
      return read;
    }
    copies.push_back(std::move(copy));
  }
  return CopyBatch(stream, copies, failed);
}

}  // namespace

CUresult face::MemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                   CUmemcpyAttributes* attributes, size_t* indices,
                                   size_t attribute_count, CUstream stream) {
  size_t failed = 0;
  return LinearBatch(to, from, bytes, count, attributes, indices, attribute_count, stream, &failed);
}

CUresult face::MemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                CUmemcpyAttributes* attributes, size_t* indices,
                                size_t attribute_count, size_t* failed, CUstream stream) {
  size_t at_fault = SIZE_MAX;
  const CUresult result =
      LinearBatch(to, from, bytes, count, attributes, indices, attribute_count, stream, &at_fault);
  if (result != CUDA_SUCCESS) WriteIfAsked(failed, at_fault);
  return result;
}

CUresult face::Memcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                     unsigned long long flags, CUstream stream) {
  size_t failed = 0;
  return BoxBatch(count, operations, flags, stream, &failed);
}

CUresult face::Memcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed,
                                  unsigned long long flags, CUstream stream) {
  size_t at_fault = SIZE_MAX;
  const CUresult result = BoxBatch(count, operations, flags, stream, &at_fault);
  if (result != CUDA_SUCCESS) WriteIfAsked(failed, at_fault);
  return result;
}

}  // namespace cuheap::sim
