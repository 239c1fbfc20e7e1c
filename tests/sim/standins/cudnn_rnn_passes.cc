// Recurrent networks of cuDNN: the passes forward and backward.
#include "tests/sim/standins/cudnn_work.h"

using namespace cuheap::sim_standin;

namespace {

// A sequence of vectors: all of them, padding too where the layout has it.
std::size_t BytesOf(Handle descriptor) {
  const auto& data = *static_cast<const RnnDataDescriptor*>(descriptor);
  return static_cast<std::size_t>(data.tokens * data.width) * BytesOfElement(data.type);
}

}  // namespace

CUHEAP_STANDIN int cudnnRNNForward(Handle handle, Handle, int, const std::int32_t*, Handle x_shape,
                                   const void* x, Handle y_shape, void* y, Handle h_shape,
                                   const void* hx, void* hy, Handle c_shape, const void* cx,
                                   void* cy, std::size_t weight_bytes, const void* weights,
                                   std::size_t work_bytes, void* work, std::size_t reserve_bytes,
                                   void* reserve) {
  return CudnnWork{}
      .Reads(x, BytesOf(x_shape))
      .Reads(h_shape, hx)
      .Reads(c_shape, cx)
      .Reads(weights, weight_bytes)
      .Writes(y, BytesOf(y_shape))
      .Writes(h_shape, hy)
      .Writes(c_shape, cy)
      .Writes(work, work_bytes)
      .Writes(reserve, reserve_bytes)
      .Enqueue(handle, "cudnnRNNForward");
}

CUHEAP_STANDIN int cudnnRNNBackwardData_v8(Handle handle, Handle, const std::int32_t*,
                                           Handle y_shape, const void* y, const void* dy,
                                           Handle x_shape, void* dx, Handle h_shape, const void* hx,
                                           const void* dhy, void* dhx, Handle c_shape,
                                           const void* cx, const void* dcy, void* dcx,
                                           std::size_t weight_bytes, const void* weights,
                                           std::size_t work_bytes, void* work,
                                           std::size_t reserve_bytes, void* reserve) {
  return CudnnWork{}
      .Reads(y, BytesOf(y_shape))
      .Reads(dy, BytesOf(y_shape))
      .Reads(h_shape, hx)
      .Reads(h_shape, dhy)
      .Reads(c_shape, cx)
      .Reads(c_shape, dcy)
      .Reads(weights, weight_bytes)
      .Writes(dx, BytesOf(x_shape))
      .Writes(h_shape, dhx)
      .Writes(c_shape, dcx)
      .Writes(work, work_bytes)
      .Writes(reserve, reserve_bytes)
      .Enqueue(handle, "cudnnRNNBackwardData");
}

CUHEAP_STANDIN int cudnnRNNBackwardWeights_v8(Handle handle, Handle, int, const std::int32_t*,
                                              Handle x_shape, const void* x, Handle h_shape,
                                              const void* hx, Handle y_shape, const void* y,
                                              std::size_t weight_bytes, void* dweights,
                                              std::size_t work_bytes, void* work,
                                              std::size_t reserve_bytes, void* reserve) {
  return CudnnWork{}
      .Reads(x, BytesOf(x_shape))
      .Reads(h_shape, hx)
      .Reads(y, BytesOf(y_shape))
      .Writes(dweights, weight_bytes)
      .Writes(work, work_bytes)
      .Writes(reserve, reserve_bytes)
      .Enqueue(handle, "cudnnRNNBackwardWeights");
}
