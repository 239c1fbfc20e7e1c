// cuDNN: convolutions of the older interface, with the choice of an algorithm and its work space.
#include "tests/sim/standins/cudnn_work.h"

using namespace cuheap::sim_standin;

namespace {

// The answer of all three algorithm searches: the first algorithm, with a work space.
struct AlgorithmPerformance {
  int algorithm;
  int status;
  float time;
  std::size_t memory;
  int determinism;
  int math;
  int reserved[3];
};
static_assert(sizeof(AlgorithmPerformance) == 48, "layout of cudnnConvolutionFwdAlgoPerf_t");

int WriteAlgorithm(int requested, int* returned, AlgorithmPerformance* results) {
  *returned = requested > 0 ? 1 : 0;
  if (requested > 0) {
    results[0] = AlgorithmPerformance{};
    results[0].memory = kWorkspaceBytes;
  }
  return 0;
}

}  // namespace

#define CUHEAP_CONVOLUTION(direction)                                                         \
  CUHEAP_STANDIN int cudnnGetConvolution##direction##WorkspaceSize(                           \
      Handle, Handle, Handle, Handle, Handle, int, std::size_t* bytes) {                      \
    *bytes = kWorkspaceBytes;                                                                 \
    return 0;                                                                                 \
  }                                                                                           \
  CUHEAP_STANDIN int cudnnGetConvolution##direction##Algorithm_v7(                            \
      Handle, Handle, Handle, Handle, Handle, int requested, int* returned,                   \
      AlgorithmPerformance* results) {                                                        \
    return WriteAlgorithm(requested, returned, results);                                      \
  }                                                                                           \
  CUHEAP_STANDIN int cudnnFindConvolution##direction##AlgorithmEx(                            \
      Handle, Handle, const void*, Handle, const void*, Handle, Handle, void*, int requested, \
      int* returned, AlgorithmPerformance* results, void*, std::size_t) {                     \
    return WriteAlgorithm(requested, returned, results);                                      \
  }
CUHEAP_CONVOLUTION(Forward)
CUHEAP_CONVOLUTION(BackwardData)
CUHEAP_CONVOLUTION(BackwardFilter)

CUHEAP_STANDIN int cudnnConvolutionForward(Handle handle, const void*, Handle x_shape,
                                           const void* x, Handle w_shape, const void* w, Handle,
                                           int, void* work, std::size_t work_bytes, const void*,
                                           Handle y_shape, void* y) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(w_shape, w)
      .Writes(work, work_bytes)
      .Writes(y_shape, y)
      .Enqueue(handle, "cudnnConvolutionForward");
}

CUHEAP_STANDIN int cudnnConvolutionBiasActivationForward(
    Handle handle, const void*, Handle x_shape, const void* x, Handle w_shape, const void* w,
    Handle, int, void* work, std::size_t work_bytes, const void*, Handle z_shape, const void* z,
    Handle bias_shape, const void* bias, Handle, Handle y_shape, void* y) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(w_shape, w)
      .Reads(z_shape, z)
      .Reads(bias_shape, bias)
      .Writes(work, work_bytes)
      .Writes(y_shape, y)
      .Enqueue(handle, "cudnnConvolutionBiasActivationForward");
}

CUHEAP_STANDIN int cudnnConvolutionBackwardData(Handle handle, const void*, Handle w_shape,
                                                const void* w, Handle dy_shape, const void* dy,
                                                Handle, int, void* work, std::size_t work_bytes,
                                                const void*, Handle dx_shape, void* dx) {
  return CudnnWork{}
      .Reads(w_shape, w)
      .Reads(dy_shape, dy)
      .Writes(work, work_bytes)
      .Writes(dx_shape, dx)
      .Enqueue(handle, "cudnnConvolutionBackwardData");
}

CUHEAP_STANDIN int cudnnConvolutionBackwardFilter(Handle handle, const void*, Handle x_shape,
                                                  const void* x, Handle dy_shape, const void* dy,
                                                  Handle, int, void* work, std::size_t work_bytes,
                                                  const void*, Handle dw_shape, void* dw) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(dy_shape, dy)
      .Writes(work, work_bytes)
      .Writes(dw_shape, dw)
      .Enqueue(handle, "cudnnConvolutionBackwardFilter");
}
