// cuDNN: batch normalisation.
#include "tests/sim/standins/cudnn_work.h"

using namespace cuheap::sim_standin;

CUHEAP_STANDIN int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle, int, int,
                                                                            Handle, Handle, Handle,
                                                                            Handle, Handle,
                                                                            std::size_t* bytes) {
  *bytes = kWorkspaceBytes;
  return 0;
}
CUHEAP_STANDIN int cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle, int, int, Handle,
                                                                     Handle, Handle, Handle, Handle,
                                                                     Handle, Handle,
                                                                     std::size_t* bytes) {
  *bytes = kWorkspaceBytes;
  return 0;
}

// What the backward pass needs of each activation: one bit.
CUHEAP_STANDIN int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle, int, int, Handle,
                                                                        Handle x,
                                                                        std::size_t* bytes) {
  const std::int64_t elements = ElementsOf(*static_cast<TensorDescriptor*>(x));
  *bytes = static_cast<std::size_t>(elements + 7) / 8;
  return 0;
}

CUHEAP_STANDIN int cudnnBatchNormalizationForwardTrainingEx(
    Handle handle, int, int, const void*, const void*, Handle x_shape, const void* x,
    Handle z_shape, const void* z, Handle y_shape, void* y, Handle parameters, const void* scale,
    const void* bias, double, void* running_mean, void* running_variance, double, void* saved_mean,
    void* saved_variance, Handle, void* work, std::size_t work_bytes, void* reserve,
    std::size_t reserve_bytes) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(z_shape, z)
      .Reads(parameters, scale)
      .Reads(parameters, bias)
      .Writes(y_shape, y)
      .Writes(parameters, running_mean)
      .Writes(parameters, running_variance)
      .Writes(parameters, saved_mean)
      .Writes(parameters, saved_variance)
      .Writes(work, work_bytes)
      .Writes(reserve, reserve_bytes)
      .Enqueue(handle, "cudnnBatchNormalizationForwardTrainingEx");
}

CUHEAP_STANDIN int cudnnBatchNormalizationForwardInference(Handle handle, int, const void*,
                                                           const void*, Handle x_shape,
                                                           const void* x, Handle y_shape, void* y,
                                                           Handle parameters, const void* scale,
                                                           const void* bias, const void* mean,
                                                           const void* variance, double) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(parameters, scale)
      .Reads(parameters, bias)
      .Reads(parameters, mean)
      .Reads(parameters, variance)
      .Writes(y_shape, y)
      .Enqueue(handle, "cudnnBatchNormalizationForwardInference");
}

CUHEAP_STANDIN int cudnnBatchNormalizationBackwardEx(
    Handle handle, int, int, const void*, const void*, const void*, const void*, Handle x_shape,
    const void* x, Handle y_shape, const void* y, Handle dy_shape, const void* dy, Handle dz_shape,
    void* dz, Handle dx_shape, void* dx, Handle parameters, const void* scale, const void* bias,
    void* dscale, void* dbias, double, const void* saved_mean, const void* saved_variance, Handle,
    void* work, std::size_t work_bytes, void* reserve, std::size_t reserve_bytes) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(y_shape, y)
      .Reads(dy_shape, dy)
      .Reads(parameters, scale)
      .Reads(parameters, bias)
      .Reads(parameters, saved_mean)
      .Reads(parameters, saved_variance)
      .Reads(reserve, reserve_bytes)
      .Writes(dz_shape, dz)
      .Writes(dx_shape, dx)
      .Writes(parameters, dscale)
      .Writes(parameters, dbias)
      .Writes(work, work_bytes)
      .Enqueue(handle, "cudnnBatchNormalizationBackwardEx");
}
