#include "tests/sim/driver/copy_box.h"

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/array.h"
#include "tests/sim/engine/staging.h"
#include "tests/sim/engine/touched_ranges.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

struct Extent {
  std::uint64_t width;  // bytes
  std::uint64_t height;
  std::uint64_t depth;
};

// One side of a box, as asked for and as found.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::uint64_t x, y, z;
  std::uint64_t pitch;
  std::uint64_t height;  // of a slice
  std::uintptr_t start = 0;
  std::uint64_t slice = 0;
  std::uint32_t element = 0;  // bytes, of an array
  std::shared_ptr<const ArraySide> array_side{};
};

bool Fits(std::uint64_t offset, std::uint64_t extent, std::uint64_t limit) {
  return extent == 0 || (offset < limit && extent <= limit - offset);
}

CUresult FindInArray(const Extent& extent, Side* side) {
  const EngineLock lock;
  const Array* array = FindArray(side->array);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const ArrayLayout& layout = array->layout;  // of several planes: no rows, so nothing fits
  if (!Fits(side->x, extent.width, layout.row_bytes) ||
      !Fits(side->y, extent.height, layout.rows) || !Fits(side->z, extent.depth, layout.slices) ||
      side->x % array->format.bytes != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  side->element = array->format.bytes;
  side->pitch = layout.pitch;
  side->slice = layout.slice_pitch;
  side->array_side = std::make_shared<const ArraySide>(
      ArraySide{side->array, side->x, side->y, side->z, array->base(), layout.tiling});
  const bool tiled = layout.tiling.row_bytes != 0;
  side->start = array->base() + (tiled ? layout.tiling.OffsetOf(side->x, side->y, side->z)
                                       : side->z * side->slice + side->y * side->pitch + side->x);
  return CUDA_SUCCESS;
}

// False: the box goes round the end of the address space.
bool HasEnd(const Side& side, const Extent& extent) {
  std::uint64_t planes = 0;
  std::uint64_t rows = 0;
  std::uint64_t end = 0;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return true;
  return !__builtin_mul_overflow(extent.depth - 1, side.slice, &planes) &&
         !__builtin_mul_overflow(extent.height - 1, side.pitch, &rows) &&
         !__builtin_add_overflow(planes, rows, &end) &&
         !__builtin_add_overflow(end, extent.width, &end) &&
         !__builtin_add_overflow(end, side.start, &end);
}

// A pitch and a height of 0 are not specified: they serve one row, or one plane.
CUresult FindInPitched(std::uintptr_t base, const Extent& extent, Side* side) {
  int most = 0;
  DeviceAttribute(0, CU_DEVICE_ATTRIBUTE_MAX_PITCH, &most);
  if (side->pitch > static_cast<std::uint64_t>(most)) return CUDA_ERROR_INVALID_VALUE;
  const bool rows = extent.height > 1 || extent.depth > 1;
  if (side->pitch != 0 ? !Fits(side->x, extent.width, side->pitch) : rows) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (side->height != 0 ? !Fits(side->y, extent.height, side->height) : extent.depth > 1) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::uint64_t planes = 0;
  std::uint64_t rows_before = 0;
  const bool fits = !__builtin_mul_overflow(side->pitch, side->height, &side->slice) &&
                    !__builtin_mul_overflow(side->z, side->slice, &planes) &&
                    !__builtin_mul_overflow(side->y, side->pitch, &rows_before) &&
                    !__builtin_add_overflow(base, planes, &side->start) &&
                    !__builtin_add_overflow(side->start, rows_before, &side->start) &&
                    !__builtin_add_overflow(side->start, side->x, &side->start);
  return fits && HasEnd(*side, extent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult Find(const Extent& extent, Side* side) {
  switch (side->type) {
    case CU_MEMORYTYPE_HOST:
      return FindInPitched(reinterpret_cast<std::uintptr_t>(side->host), extent, side);
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      return FindInPitched(side->device, extent, side);
    case CU_MEMORYTYPE_ARRAY:
      return FindInArray(extent, side);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Join(Side from, Side to, const Extent& extent, CopyOp* out) {
  CUHEAP_SIM_TRY(Find(extent, &from));
  CUHEAP_SIM_TRY(Find(extent, &to));
  if (from.element != 0 && to.element != 0 && from.element != to.element) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *out = CopyOp{to.start, from.start, extent.width, extent.height, extent.depth,
                to.pitch, to.slice,   from.pitch,   from.slice};
  out->to_array = std::move(to.array_side);
  out->from_array = std::move(from.array_side);
  return CUDA_SUCCESS;
}

template <class Copy>
CUresult BoxOf(const Copy& copy, CopyOp* out) {
  if (copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  return Join({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes,
               copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight},
              {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes,
               copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight},
              {copy.WidthInBytes, copy.Height, copy.Depth}, out);
}

// Arrays know their context.
CUresult NeedContextOf(CUcontext handle, CUmemorytype type) {
  if (type == CU_MEMORYTYPE_ARRAY) return CUDA_SUCCESS;
  const Context* context = FindContext(handle);
  return context != nullptr && context->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

CUresult BoxCopy(const CUDA_MEMCPY3D& copy, CopyOp* out) {
  if (copy.reserved0 != nullptr || copy.reserved1 != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return BoxOf(copy, out);
}

CUresult BoxCopy(const CUDA_MEMCPY2D& copy, CopyOp* out) {
  return Join({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes,
               copy.srcY, 0, copy.srcPitch, 0},
              {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes,
               copy.dstY, 0, copy.dstPitch, 0},
              {copy.WidthInBytes, copy.Height, 1}, out);
}

CUresult BoxCopy(const CUDA_MEMCPY3D_PEER& copy, CopyOp* out) {
  CUHEAP_SIM_TRY(NeedContextOf(copy.srcContext, copy.srcMemoryType));
  CUHEAP_SIM_TRY(NeedContextOf(copy.dstContext, copy.dstMemoryType));
  return BoxOf(copy, out);
}

CUDA_MEMCPY3D DescribeBox(const CopyOp& copy) {
  if (copy.box != nullptr) return *copy.box;
  CUDA_MEMCPY3D box{};
  box.WidthInBytes = copy.width;
  box.Height = copy.height;
  box.Depth = copy.depth;
  if (const ArraySide* side = copy.from_array.get()) {
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = side->array;
    box.srcXInBytes = side->x;
    box.srcY = side->y;
    box.srcZ = side->z;
  } else {
    box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = copy.from;
    box.srcPitch = copy.from_pitch;
    box.srcHeight = copy.from_pitch == 0 ? 0 : copy.from_slice / copy.from_pitch;
  }
  if (const ArraySide* side = copy.to_array.get()) {
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = side->array;
    box.dstXInBytes = side->x;
    box.dstY = side->y;
    box.dstZ = side->z;
  } else {
    box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.dstDevice = copy.to;
    box.dstPitch = copy.to_pitch;
    box.dstHeight = copy.to_pitch == 0 ? 0 : copy.to_slice / copy.to_pitch;
  }
  return box;
}

CUresult CopyNow(const CopyOp& copy) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(nullptr, &stream));
  if (AnyCapture()) {
    CUHEAP_SIM_TRY(CheckUnsafeCall());
    const EngineLock lock;
    CUHEAP_SIM_TRY(RefuseOn(stream));
  }
  CUHEAP_SIM_TRY(Submit(stream, copy));
  if (!IsLeftInItsStream(copy)) WaitForStream(stream);
  return stream->context->broken;
}

CUresult CopyIn(CUstream handle, const CopyOp& copy) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  return Submit(stream, copy);
}

CUresult CopyBatch(Stream* stream, const std::vector<CopyOp>& copies, std::size_t* failed) {
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (stream->capture.load() != nullptr) break;  // memory of the graph has no pages yet
    const CUresult result = CheckRangesAtSubmission(TouchedRanges(copies[i]));
    if (result == CUDA_SUCCESS) continue;
    *failed = i;
    return result;
  }
  for (const CopyOp& copy : copies) CUHEAP_SIM_TRY(Submit(stream, copy));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
