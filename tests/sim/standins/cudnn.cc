// cuDNN: handles and descriptors.
#include <algorithm>

#include "tests/sim/standins/cudnn_descriptors.h"
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr std::size_t kVersion = 92600;
constexpr std::size_t kCudartVersion = 13020;

void Remember(Handle handle, int type, int format, int dimensions, const int* sizes,
              const int* strides) {
  auto& tensor = *static_cast<TensorDescriptor*>(handle);
  tensor = {};
  tensor.type = type;
  tensor.format = format;
  tensor.dimensions = std::min(dimensions, kMaxDimensions);
  std::copy_n(sizes, tensor.dimensions, tensor.size);
  tensor.dense = strides == nullptr;
  if (strides != nullptr) std::copy_n(strides, tensor.dimensions, tensor.stride);
}

}  // namespace

CUHEAP_STANDIN std::size_t cudnnGetVersion() { return kVersion; }
CUHEAP_STANDIN std::size_t cudnnGetCudartVersion() { return kCudartVersion; }
CUHEAP_STANDIN int cudnnGetProperty(int property, int* value) {
  const int parts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
  *value = parts[property];
  return 0;
}
CUHEAP_STANDIN const char* cudnnGetErrorString(int status) {
  return status == 0 ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_NOT_SUPPORTED";
}
CUHEAP_STANDIN void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  if (bytes > 0) *text = '\0';
}

CUHEAP_STANDIN int cudnnCreate(Handle* handle) { return Create(handle); }
CUHEAP_STANDIN int cudnnDestroy(Handle handle) { return Destroy(handle); }
CUHEAP_STANDIN int cudnnSetStream(Handle handle, Stream stream) {
  SetStream(handle, stream);
  return 0;
}
CUHEAP_STANDIN int cudnnGetStream(Handle handle, Stream* stream) {
  *stream = static_cast<Object*>(handle)->stream;
  return 0;
}

#define CUHEAP_DESCRIPTOR(kind, type)                                                   \
  CUHEAP_STANDIN int cudnnCreate##kind(Handle* handle) { return Create<type>(handle); } \
  CUHEAP_STANDIN int cudnnDestroy##kind(Handle handle) { return Destroy<type>(handle); }
CUHEAP_DESCRIPTOR(TensorDescriptor, TensorDescriptor)
CUHEAP_DESCRIPTOR(FilterDescriptor, TensorDescriptor)
CUHEAP_DESCRIPTOR(ConvolutionDescriptor, Object)
CUHEAP_DESCRIPTOR(ActivationDescriptor, Object)
CUHEAP_DESCRIPTOR(DropoutDescriptor, Object)
CUHEAP_DESCRIPTOR(CTCLossDescriptor, CtcDescriptor)
CUHEAP_DESCRIPTOR(PoolingDescriptor, Object)
CUHEAP_DESCRIPTOR(SpatialTransformerDescriptor, SpatialDescriptor)

CUHEAP_STANDIN int cudnnSetTensorNdDescriptor(Handle handle, int type, int dimensions,
                                              const int* sizes, const int* strides) {
  Remember(handle, type, 0, dimensions, sizes, strides);
  return 0;
}
CUHEAP_STANDIN int cudnnGetTensorNdDescriptor(Handle handle, int requested, int* type,
                                              int* dimensions, int* sizes, int* strides) {
  const auto& tensor = *static_cast<TensorDescriptor*>(handle);
  const int given = std::min(requested, tensor.dimensions);
  *type = tensor.type;
  *dimensions = tensor.dimensions;
  std::copy_n(tensor.size, given, sizes);
  std::copy_n(tensor.stride, given, strides);
  return 0;
}
CUHEAP_STANDIN int cudnnSetFilterNdDescriptor(Handle handle, int type, int format, int dimensions,
                                              const int* sizes) {
  Remember(handle, type, format, dimensions, sizes, nullptr);
  return 0;
}
CUHEAP_STANDIN int cudnnGetFilterNdDescriptor(Handle handle, int requested, int* type, int* format,
                                              int* dimensions, int* sizes) {
  const auto& filter = *static_cast<TensorDescriptor*>(handle);
  *type = filter.type;
  *format = filter.format;
  *dimensions = filter.dimensions;
  std::copy_n(filter.size, std::min(requested, filter.dimensions), sizes);
  return 0;
}
