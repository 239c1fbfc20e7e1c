// Memory operations of streams: waiting for values and writing them, alone or in batches.
#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/memory_operation.h"

namespace cuheap::sim {
namespace {

constexpr auto kV1 = MemoryOperationAbi::kV1;
constexpr auto kV2 = MemoryOperationAbi::kV2;
constexpr unsigned kMostOperations = 255;

CUresult Check(const CUstreamBatchMemOpParams* list, unsigned count, unsigned flags,
               MemoryOperationAbi abi) {
  CUHEAP_SIM_TRY(NeedPointers(list));
  if (count == 0 || count > kMostOperations || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) CUHEAP_SIM_TRY(CheckMemoryOperation(list[i], abi));
  return CUDA_SUCCESS;
}

CUresult SubmitBatch(CUstream handle, const CUstreamBatchMemOpParams* list, unsigned count,
                     unsigned flags, MemoryOperationAbi abi) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(Check(list, count, flags, abi));
  return Submit(stream, BatchOp{{list, list + count}, HandleOf(stream->context)});
}

CUresult SubmitOne(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                   std::uint64_t value, unsigned flags, MemoryOperationAbi abi) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = type;
  operation.waitValue.address = address;  // writes have the same layout
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return SubmitBatch(stream, &operation, 1, 0, abi);
}

}  // namespace

CUresult BatchOf(const CUstreamBatchMemOpParams* list, unsigned count, unsigned flags,
                 BatchOp* out) {
  CUHEAP_SIM_TRY(Check(list, count, flags, kV2));
  out->list.assign(list, list + count);
  return CUDA_SUCCESS;
}

CUresult face::StreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags, kV1);
}
CUresult face::StreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                    unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags, kV2);
}
CUresult face::StreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags, kV1);
}
CUresult face::StreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                    unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags, kV2);
}
CUresult face::StreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                  unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags, kV1);
}
CUresult face::StreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags, kV2);
}
CUresult face::StreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                  unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags, kV1);
}
CUresult face::StreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags) {
  return SubmitOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags, kV2);
}

CUresult face::StreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list,
                                unsigned flags) {
  return SubmitBatch(stream, list, count, flags, kV1);
}
CUresult face::StreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list,
                                   unsigned flags) {
  return SubmitBatch(stream, list, count, flags, kV2);
}

}  // namespace cuheap::sim
