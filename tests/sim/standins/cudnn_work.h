// How the files of cuDNN's stand-in enqueue work, and name the tensors that it touches.
#pragma once

#include "tests/sim/standins/cudnn_descriptors.h"
#include "tests/sim/standins/enqueue.h"

namespace cuheap::sim_standin {

inline constexpr int kCudnnExecutionFailed = 5000;

// The work of one call of a handle.
class CudnnWork {
 public:
  CudnnWork& Tensor(Access access, Handle descriptor, const void* data) {
    if (descriptor == nullptr || data == nullptr) return *this;
    const auto& tensor = *static_cast<const TensorDescriptor*>(descriptor);
    std::vector<Extent> extents;
    // Filters have no strides: they lie densely, in an order that does not matter here.
    if (tensor.dense) extents.push_back({ElementsOf(tensor), 1});
    for (int i = 0; i < tensor.dimensions && !tensor.dense; ++i)
      extents.push_back({tensor.size[i], tensor.stride[i]});
    if (tensor.dimensions > 0)
      touched_.Box(access, data, std::move(extents), BitsOfElement(tensor.type));
    return *this;
  }
  CudnnWork& Reads(Handle descriptor, const void* data) {
    return Tensor(Access::kRead, descriptor, data);
  }
  CudnnWork& Writes(Handle descriptor, const void* data) {
    return Tensor(Access::kWrite, descriptor, data);
  }
  CudnnWork& Reads(const void* data, std::uint64_t bytes) {
    touched_.Bytes(Access::kRead, data, bytes);
    return *this;
  }
  CudnnWork& Writes(const void* data, std::uint64_t bytes) {
    touched_.Bytes(Access::kWrite, data, bytes);
    return *this;
  }

  int Enqueue(Handle handle, const char* name) const {
    const Stream stream = static_cast<Object*>(handle)->stream;
    return sim_standin::Enqueue(stream, name, touched_) == 0 ? 0 : kCudnnExecutionFailed;
  }

 private:
  Touched touched_;
};

}  // namespace cuheap::sim_standin
