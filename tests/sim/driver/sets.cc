// Setting memory.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

CUresult Check(const FillOp& fill) {
  const bool rows = fill.height > 1;
  if (fill.to % fill.element != 0 || (rows && fill.pitch % fill.element != 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::uint64_t row = 0;
  std::uint64_t all = 0;
  const bool overflows = __builtin_mul_overflow(fill.width, fill.element, &row) ||
                         (rows && __builtin_mul_overflow(fill.pitch, fill.height, &all));
  if (overflows || (rows && fill.pitch < row)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult FillIn(CUstream handle, const FillOp& fill) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(Check(fill));
  return Submit(stream, fill);
}

// Host memory is set before the call returns, and so is memory whose operations the program asked
// to be synchronous.
bool MustWait(CUdeviceptr address) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(address);
  return block != nullptr && (block->sync_memops || IsHostMemory(*block));
}

// Setting device memory without a stream is asynchronous work of the default stream.
CUresult FillNow(const FillOp& fill) {
  CUHEAP_SIM_TRY(FillIn(nullptr, fill));
  if (!MustWait(fill.to)) return CUDA_SUCCESS;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(nullptr, &stream));
  WaitForStream(stream);
  return stream->context->broken;
}

FillOp Row(CUdeviceptr to, std::uint32_t value, std::uint32_t element, size_t width) {
  return FillOp{to, 0, value, element, width, 1};
}

}  // namespace

CUresult face::MemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return FillNow(Row(to, value, 1, count));
}
CUresult face::MemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return FillNow(Row(to, value, 2, count));
}
CUresult face::MemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return FillNow(Row(to, value, 4, count));
}
CUresult face::MemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                             size_t height) {
  return FillNow(FillOp{to, pitch, value, 1, width, height});
}
CUresult face::MemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                              size_t height) {
  return FillNow(FillOp{to, pitch, value, 2, width, height});
}
CUresult face::MemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                              size_t height) {
  return FillNow(FillOp{to, pitch, value, 4, width, height});
}

CUresult face::MemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return FillIn(stream, Row(to, value, 1, count));
}
CUresult face::MemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return FillIn(stream, Row(to, value, 2, count));
}
CUresult face::MemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return FillIn(stream, Row(to, value, 4, count));
}
CUresult face::MemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                               size_t height, CUstream stream) {
  return FillIn(stream, FillOp{to, pitch, value, 1, width, height});
}
CUresult face::MemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                size_t height, CUstream stream) {
  return FillIn(stream, FillOp{to, pitch, value, 2, width, height});
}
CUresult face::MemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                size_t height, CUstream stream) {
  return FillIn(stream, FillOp{to, pitch, value, 4, width, height});
}

}  // namespace cuheap::sim
