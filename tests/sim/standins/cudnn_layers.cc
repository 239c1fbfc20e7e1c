// cuDNN: layers of which there is one function or two: losses, pooling, dropout, spatial
// transformers.
#include <algorithm>

#include "tests/sim/standins/cudnn_work.h"
#include "tests/sim/standins/driver.h"

using namespace cuheap::sim_standin;

namespace {

constexpr std::size_t kBytesOfFloat = 4;

// The forward and the backward variables of the algorithm: for each step and each sequence, one of
// every label and of the blanks around them.
std::size_t CtcWorkspace(const TensorDescriptor& probabilities, int longest_label) {
  const auto steps = static_cast<std::size_t>(probabilities.size[0]);
  const auto sequences = static_cast<std::size_t>(probabilities.size[1]);
  const auto states = static_cast<std::size_t>(2 * longest_label + 1);
  return 2 * steps * sequences * states * kBytesOfFloat;
}

int RunCtc(Handle handle, Handle shape, const void* probabilities, void* costs,
           Handle gradient_shape, void* gradients, void* work, std::size_t work_bytes) {
  const auto sequences =
      static_cast<std::size_t>(static_cast<const TensorDescriptor*>(shape)->size[1]);
  return CudnnWork{}
      .Reads(shape, probabilities)
      .Writes(costs, sequences * kBytesOfFloat)
      .Writes(gradient_shape, gradients)
      .Writes(work, work_bytes)
      .Enqueue(handle, "cudnnCTCLoss");
}

// An attribute of the device of the current context; 0: there is none.
std::size_t AskDevice(int attribute) {
  static const auto device_of = DriverFunction<int(int*)>("cuCtxGetDevice");
  static const auto ask = DriverFunction<int(int*, int, int)>("cuDeviceGetAttribute");
  int device = 0;
  int value = 0;
  const bool known = device_of(&device) == 0 && ask(&value, attribute, device) == 0;
  return known ? static_cast<std::size_t>(value) : 0;
}

std::int64_t PointsOf(const SpatialDescriptor& grid) {  // all dimensions but the channels
  std::int64_t points = 1;
  for (int i = 0; i < grid.dimensions; ++i) points *= i == 1 ? 1 : grid.size[i];
  return points;
}

std::size_t BytesOfGrid(Handle descriptor) {
  const auto& grid = *static_cast<const SpatialDescriptor*>(descriptor);
  const std::int64_t coordinates = grid.dimensions - 2;
  return static_cast<std::size_t>(PointsOf(grid) * coordinates) * BytesOfElement(grid.type);
}

// An affine map for each image.
std::size_t BytesOfTheta(Handle descriptor) {
  const auto& grid = *static_cast<const SpatialDescriptor*>(descriptor);
  const std::int64_t spatial = grid.dimensions - 2;
  return static_cast<std::size_t>(grid.size[0] * spatial * (spatial + 1)) *
         BytesOfElement(grid.type);
}

}  // namespace

CUHEAP_STANDIN int cudnnSetCTCLossDescriptorEx(Handle, int, int, int) { return 0; }
CUHEAP_STANDIN int cudnnSetCTCLossDescriptor_v9(Handle descriptor, int, int, int, int longest) {
  static_cast<CtcDescriptor*>(descriptor)->longest_label = longest;
  return 0;
}
CUHEAP_STANDIN int cudnnGetCTCLossWorkspaceSize(Handle, Handle probabilities, Handle, const int*,
                                                const int* label_lengths, const int*, int, Handle,
                                                std::size_t* bytes) {
  const auto& shape = *static_cast<TensorDescriptor*>(probabilities);
  int longest = 0;
  for (int i = 0; i < shape.size[1]; ++i) longest = std::max(longest, label_lengths[i]);
  *bytes = CtcWorkspace(shape, longest);
  return 0;
}
CUHEAP_STANDIN int cudnnGetCTCLossWorkspaceSize_v8(Handle, int, Handle descriptor,
                                                   Handle probabilities, Handle,
                                                   std::size_t* bytes) {
  *bytes = CtcWorkspace(*static_cast<TensorDescriptor*>(probabilities),
                        static_cast<CtcDescriptor*>(descriptor)->longest_label);
  return 0;
}
CUHEAP_STANDIN int cudnnCTCLoss(Handle handle, Handle shape, const void* probabilities, const int*,
                                const int*, const int*, void* costs, Handle gradient_shape,
                                void* gradients, int, Handle, void* work, std::size_t work_bytes) {
  return RunCtc(handle, shape, probabilities, costs, gradient_shape, gradients, work, work_bytes);
}
CUHEAP_STANDIN int cudnnCTCLoss_v8(Handle handle, int, Handle, Handle shape,
                                   const void* probabilities, const int*, const int*, const int*,
                                   void* costs, Handle gradient_shape, void* gradients,
                                   std::size_t work_bytes, void* work) {
  return RunCtc(handle, shape, probabilities, costs, gradient_shape, gradients, work, work_bytes);
}

CUHEAP_STANDIN int cudnnPoolingForward(Handle handle, Handle, const void*, Handle x_shape,
                                       const void* x, const void*, Handle y_shape, void* y) {
  return CudnnWork{}.Reads(x_shape, x).Writes(y_shape, y).Enqueue(handle, "cudnnPoolingForward");
}

// A generator of curand's (48 bytes) for every thread that the device can hold.
CUHEAP_STANDIN int cudnnDropoutGetStatesSize(Handle, std::size_t* bytes) {
  constexpr std::size_t kGeneratorBytes = 48;
  constexpr int kMultiprocessors = 16;  // CUdevice_attribute
  constexpr int kThreadsOfMultiprocessor = 39;
  *bytes = AskDevice(kMultiprocessors) * AskDevice(kThreadsOfMultiprocessor) * kGeneratorBytes;
  return *bytes == 0 ? kCudnnExecutionFailed : 0;
}
CUHEAP_STANDIN int cudnnSetDropoutDescriptor(Handle, Handle handle, float, void* states,
                                             std::size_t bytes, unsigned long long) {
  if (states == nullptr) return 0;
  return CudnnWork{}.Writes(states, bytes).Enqueue(handle, "cudnnSetDropoutDescriptor");
}

CUHEAP_STANDIN int cudnnSetSpatialTransformerNdDescriptor(Handle descriptor, int, int type,
                                                          int dimensions, const int* sizes) {
  auto& grid = *static_cast<SpatialDescriptor*>(descriptor);
  grid = {};
  grid.type = type;
  grid.dimensions = std::min(dimensions, kMaxDimensions);
  std::copy_n(sizes, grid.dimensions, grid.size);
  return 0;
}
CUHEAP_STANDIN int cudnnSpatialTfGridGeneratorForward(Handle handle, Handle descriptor,
                                                      const void* theta, void* grid) {
  return CudnnWork{}
      .Reads(theta, BytesOfTheta(descriptor))
      .Writes(grid, BytesOfGrid(descriptor))
      .Enqueue(handle, "cudnnSpatialTfGridGeneratorForward");
}
CUHEAP_STANDIN int cudnnSpatialTfGridGeneratorBackward(Handle handle, Handle descriptor,
                                                       const void* dgrid, void* dtheta) {
  return CudnnWork{}
      .Reads(dgrid, BytesOfGrid(descriptor))
      .Writes(dtheta, BytesOfTheta(descriptor))
      .Enqueue(handle, "cudnnSpatialTfGridGeneratorBackward");
}
CUHEAP_STANDIN int cudnnSpatialTfSamplerForward(Handle handle, Handle descriptor, const void*,
                                                Handle x_shape, const void* x, const void* grid,
                                                const void*, Handle y_shape, void* y) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(grid, BytesOfGrid(descriptor))
      .Writes(y_shape, y)
      .Enqueue(handle, "cudnnSpatialTfSamplerForward");
}
CUHEAP_STANDIN int cudnnSpatialTfSamplerBackward(Handle handle, Handle descriptor, const void*,
                                                 Handle x_shape, const void* x, const void*,
                                                 Handle dx_shape, void* dx, const void*,
                                                 Handle dy_shape, const void* dy, const void* grid,
                                                 const void*, void* dgrid) {
  return CudnnWork{}
      .Reads(x_shape, x)
      .Reads(dy_shape, dy)
      .Reads(grid, BytesOfGrid(descriptor))
      .Writes(dx_shape, dx)
      .Writes(dgrid, BytesOfGrid(descriptor))
      .Enqueue(handle, "cudnnSpatialTfSamplerBackward");
}
